#include "runtime/prompt_callback.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "runtime/pending_stop.h"
#include "runtime/runtime_in_test.h"
#include "support/thread_creation.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class PromptRuns : public Runtime {
 protected:
  std::mutex mutex;
  std::vector<dutiful::Run> taken;

  // Keeps the run, as a program does that will settle it when a command has ended.
  Callback keeps() {
    return PromptCallback::make([this](dutiful::Run run) {
      const std::string key = run.info().key();
      {
        const std::lock_guard lock{mutex};
        taken.push_back(std::move(run));
      }
      journal.add(key);
    });
  }
  Registration task(const std::string& name, Callback callback) {
    return {name, "1 * * * *", std::move(callback), 1min};
  }
  void settle_all() {
    const std::lock_guard lock{mutex};
    for (dutiful::Run& run : taken) run.succeed();
    taken.clear();
  }
};

TEST(PromptCallback, is_told_from_what_a_user_gives) {
  EXPECT_TRUE(PromptCallback::is(PromptCallback::make([](dutiful::Run) {})));
  EXPECT_FALSE(PromptCallback::is(Callback{[](dutiful::Run) {}}));
  EXPECT_FALSE(PromptCallback::is(Callback{}));
}

// X3: however many runs go on, they have no thread.
TEST_F(PromptRuns, need_no_thread_but_the_loop) {
  Options unlimited = options();
  unlimited.max_concurrent = 0;
  Scheduler scheduler{unlimited};
  const ThreadLimit limit{1};
  std::vector<Registration> list;
  for (int i = 0; i < 100; ++i) list.push_back(task(std::to_string(i), keeps()));
  scheduler.initialize(std::move(list));
  clock->advance(30s);
  EXPECT_EQ(journal.wait_for(100).size(), 100U);
  settle_all();
  scheduler.stop();
}

TEST_F(PromptRuns, that_throw_have_failed) {
  Options telling = options();
  telling.events = [&](const Event& event) {
    if (event.name != "TaskRunFailed") return;
    for (const EventField& field : event.fields) {
      if (field.name == "error") journal.add(std::get<std::string>(field.value));
    }
  };
  Scheduler scheduler{telling};
  scheduler.initialize({task("a", PromptCallback::make([](dutiful::Run) -> void {
                               throw std::runtime_error("there is no room");
                             }))});
  clock->advance(30s);
  EXPECT_EQ(journal.wait_for(1)[0], "there is no room");
}

// K7: a user's callback that takes its time is on a thread of its own, whatever is beside it.
TEST_F(PromptRuns, go_on_beside_callbacks_that_wait) {
  Gate gate;
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler mixed{reconciling};
  mixed.initialize({task("prompt", keeps())});
  mixed.initialize({task("prompt", keeps()), task("slow", [&] {
                      journal.add("slow");
                      gate.pass();
                    })});
  clock->advance(30s);
  EXPECT_THAT(journal.wait_for(2),
              testing::UnorderedElementsAre("prompt@2025-03-03T10:01:00.000Z", "slow"));
  settle_all();
  clock->advance(1h);
  EXPECT_EQ(journal.wait_for(3)[2], "prompt@2025-03-03T11:01:00.000Z");
  settle_all();
  gate.open();
  mixed.stop();
}

// A thread that cannot be had refuses the list that needs it, and the one before goes on.
TEST_F(PromptRuns, stay_where_a_list_needs_a_thread_that_is_not_to_be_had) {
  Options reconciling = options();
  reconciling.reinitialize = Reinitialize::reconcile;
  Scheduler scheduler{reconciling};
  scheduler.initialize({task("prompt", keeps())});
  {
    const ThreadLimit limit{0};
    EXPECT_THROW(scheduler.initialize({task("slow", [&] { journal.add("slow"); })}), ThreadError);
  }
  clock->advance(30s);
  EXPECT_EQ(journal.wait_for(1)[0], "prompt@2025-03-03T10:01:00.000Z");
  settle_all();
  scheduler.stop();
}

TEST_F(PromptRuns, cannot_stop_their_scheduler) {
  Scheduler scheduler{options()};
  scheduler.initialize({task("a", PromptCallback::make([&](dutiful::Run run) {
                               try {
                                 scheduler.stop();
                               } catch (const StopSchedulerError&) {
                                 journal.add("refused");
                               }
                               run.succeed();
                             }))});
  clock->advance(30s);
  EXPECT_EQ(journal.wait_for(1), Entries{"refused"});
  scheduler.stop();
}

bool rings(const Bell& bell, int timeout_ms) {
  pollfd waiting{.fd = bell.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, timeout_ms) == 1;
}

// I5, without a thread that waits.
TEST_F(PromptRuns, are_waited_for_by_a_stop_in_two_parts) {
  Bell all_ended;
  Scheduler scheduler{options()};
  scheduler.initialize({task("a", keeps())});
  clock->advance(30s);
  journal.wait_for(1);
  PendingStop stop{scheduler, all_ended};
  EXPECT_EQ(scheduler.stop(0ms), (std::vector<std::string>{"a"}));
  EXPECT_FALSE(rings(all_ended, 0));
  settle_all();
  EXPECT_TRUE(rings(all_ended, 60'000));
  stop.finish();
  scheduler.initialize({});  // as after any stop
}

}  // namespace
}  // namespace dutiful
