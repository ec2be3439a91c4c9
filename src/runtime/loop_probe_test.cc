#include "runtime/loop_probe.h"

#include <array>
#include <future>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Answer = LoopProbe::Answer;

// Long enough for any machine: a loop that turns answers at once.
constexpr Duration long_patience = 60s;

Registration yearly(const char* name, Callback callback) {
  return {.name = name, .cron = "0 0 1 1 *", .callback = std::move(callback), .retry_delay = 1s};
}

TEST(LoopProbe, finds_no_loop_before_a_list_and_after_a_stop) {
  Scheduler scheduler;
  const LoopProbe probe{scheduler};
  EXPECT_EQ(probe.ask(long_patience), Answer::no_loop);
  scheduler.initialize({yearly("a", [] {})});
  scheduler.stop();
  EXPECT_EQ(probe.ask(long_patience), Answer::no_loop);
}

TEST(LoopProbe, finds_that_an_idle_loop_turns) {
  Scheduler scheduler;
  const LoopProbe probe{scheduler};
  scheduler.initialize({yearly("a", [] {})});
  for (int i = 0; i < 100; ++i) ASSERT_EQ(probe.ask(long_patience), Answer::turns);
}

// A scheduler whose loop hangs: the loop calls the sink, which waits.
class HangingLoop : public testing::Test {
 protected:
  HangingLoop() {
    scheduler.initialize(
        {{.name = "a", .cron = "* * * * *", .callback = [] {}, .retry_delay = 1s}});
    entered.get_future().wait();  // it boots at once
  }

  std::promise<void> entered;
  std::promise<void> released;
  std::atomic<bool> has_hung = false;
  Scheduler scheduler{{.events = [this](const Event& event) {
    if (event.name != "TaskRunStarted" || has_hung.exchange(true)) return;
    entered.set_value();
    released.get_future().wait();
  }}};
  const LoopProbe probe{scheduler};
};

TEST_F(HangingLoop, is_found) {
  EXPECT_EQ(probe.ask(1ms), Answer::hangs);
  released.set_value();
  EXPECT_EQ(probe.ask(long_patience), Answer::turns);
}

// Otherwise the probes of a hanging daemon would keep every thread of the server.
TEST_F(HangingLoop, makes_only_one_thread_wait) {
  ASSERT_EQ(probe.ask(1ms), Answer::hangs);
  std::array<std::promise<Answer>, 2> answers;  // in the order in which they are given
  std::atomic<std::size_t> answered = 0;
  const auto ask = [&] {
    const Answer answer = probe.ask(long_patience);
    answers.at(answered++).set_value(answer);
  };
  auto one = std::async(std::launch::async, ask);
  auto other = std::async(std::launch::async, ask);
  // One of them waits, and the other gets the answer from before.
  EXPECT_EQ(answers[0].get_future().get(), Answer::hangs);
  released.set_value();
  EXPECT_EQ(answers[1].get_future().get(), Answer::turns);
}

TEST(LoopProbe, may_be_asked_by_many_threads_during_a_stop) {
  Scheduler scheduler;
  const LoopProbe probe{scheduler};
  scheduler.initialize({yearly("a", [] {})});
  std::vector<std::future<void>> probes;
  for (int i = 0; i < 4; ++i) {
    probes.push_back(std::async(std::launch::async, [&] {
      while (probe.ask(long_patience) != Answer::no_loop) {
      }
    }));
  }
  scheduler.stop();
  for (auto& asked : probes) asked.wait();
  EXPECT_EQ(probe.ask(long_patience), Answer::no_loop);
}

}  // namespace
}  // namespace dutiful
