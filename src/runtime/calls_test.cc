// Calls from many threads, and their trace (RULES I4, I5, H12).

#include "runtime/calls.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/runtime_in_test.h"
#include "support/temporary_directory.h"
#include "theory/monitor.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class CallsTest : public Runtime {
 protected:
  TemporaryDirectory directory;

  [[nodiscard]] Options traced(Reinitialize policy = Reinitialize::reject) const {
    Options traced = options();
    traced.reinitialize = policy;
    traced.trace = directory.file("trace.jsonl");
    return traced;
  }

  // The calls as "InitStart 1", without the runs.
  struct Written {
    std::vector<std::string> calls;
    std::vector<std::string> violations;
    std::map<std::uint64_t, int> unanswered;
    int starts = 0;
    int starts_after_stop = 0;
  };
  Written read_trace() {
    Written written;
    std::ifstream in{directory.file("trace.jsonl")};
    TraceReader reader{in};
    theory::Monitor monitor{
        theory::setting_of(reader.header(), Zone::utc()),
        [&](const theory::Violation& v) { written.violations.push_back(v.text()); }};
    const auto called = [&](const char* name, CallNumber call, int change) {
      written.calls.push_back(std::string{name} + ' ' + std::to_string(call.value()));
      if ((written.unanswered[*call] += change) == 0) written.unanswered.erase(*call);
    };
    bool has_stopped = false;
    for (TracedEvent event; reader.read(event);) {
      monitor.on(reader.line(), event.at, event.event);
      if (const auto* init = std::get_if<InitStart>(&event.event)) {
        called("InitStart", init->call, 1);
      } else if (const auto* success = std::get_if<InitSuccess>(&event.event)) {
        called("InitSuccess", success->call, -1);
      } else if (const auto* failure = std::get_if<InitFailure>(&event.event)) {
        called(failure->cause == RefusalCause::environment ? "refused by the world"
               : failure->cause == RefusalCause::unseen    ? "refused unseen"
                                                           : "refused",
               failure->call,
               -1);
      } else if (const auto* stop = std::get_if<StopStart>(&event.event)) {
        called("StopStart", stop->call, 1);
        has_stopped = true;
      } else if (const auto* stopped = std::get_if<StopEnd>(&event.event)) {
        called("StopEnd", stopped->call, -1);
      } else if (std::holds_alternative<Crash>(event.event)) {
        written.calls.emplace_back("Crash");
      } else if (std::holds_alternative<RunStart>(event.event)) {
        ++written.starts;
        if (has_stopped) ++written.starts_after_stop;
      }
    }
    return written;
  }
};

TEST_F(CallsTest, are_traced_whether_they_have_an_effect_or_not) {
  {
    Scheduler scheduler{traced()};
    scheduler.stop();
    EXPECT_THROW(scheduler.initialize({{"", "* * * * *", [] {}, 0s}}), InvalidRegistrationError);
    EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", {}, 0s}}), InvalidRegistrationError);
    scheduler.initialize({});
    EXPECT_THROW(scheduler.initialize({}), SchedulerAlreadyActiveError);
    scheduler.stop();
    scheduler.stop();
  }
  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_THAT(trace.calls,
              ElementsAre("StopStart 1",
                          "StopEnd 1",
                          "InitStart 2",
                          "refused 2",
                          "InitStart 3",
                          "refused unseen 3",
                          "InitStart 4",
                          "InitSuccess 4",
                          "InitStart 5",
                          "refused 5",
                          "StopStart 6",
                          "StopEnd 6",
                          "StopStart 7",
                          "StopEnd 7"));
}

TEST_F(CallsTest, that_the_environment_refuses_are_no_crash) {
  Options held = options();
  held.state = directory.file("state.db");
  Scheduler holder{held};
  holder.initialize({});
  {
    Options refused = traced();
    refused.state = held.state;
    Scheduler scheduler{refused};
    EXPECT_THROW(scheduler.initialize({}), StateHeldError);
  }
  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_THAT(trace.calls, ElementsAre("InitStart 1", "refused by the world 1"));
}

// Calls of a stop() whose patience ends while a task runs.
class ImpatientStop : public CallsTest {
 protected:
  Journal violations;
  Gate begun;
  Gate may_end;

  [[nodiscard]] Options verified() {
    Options verified = traced();
    verified.verify = true;
    verified.events = [this](const Event& event) {
      if (event.name == "TheoryViolated") violations.add(to_json(event));
    };
    return verified;
  }
  [[nodiscard]] Registration long_task() {
    return {"a",
            "0 * * * *",
            [this] {
              begun.open();
              may_end.pass();
            },
            1min,
            5min};
  }
  // Lets time pass meanwhile.
  void wait_until_stopped(const Scheduler& scheduler, Duration passes = 0ms) {
    const auto patience = std::chrono::steady_clock::now() + 60s;
    while (scheduler.status().lifecycle != SchedulerStatus::Lifecycle::uninitialized) {
      ASSERT_LT(std::chrono::steady_clock::now(), patience) << "it is still stopping";
      clock->advance(passes);
      std::this_thread::yield();
    }
  }
};

// L3: they are answered when everything has ended, and not by the next call.
TEST_F(ImpatientStop, is_answered_when_everything_has_ended) {
  {
    Scheduler scheduler{verified()};
    scheduler.initialize({long_task()});
    begun.pass();
    EXPECT_EQ(scheduler.stop(0ms), Entries{"a"});
    EXPECT_EQ(scheduler.stop(0ms), Entries{"a"});
    may_end.open();
    wait_until_stopped(scheduler);
    clock->advance(10min);
    scheduler.stop();
  }
  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_EQ(violations.size(), 0U);
  EXPECT_THAT(trace.calls,
              ElementsAre("InitStart 1",
                          "InitSuccess 1",
                          "StopStart 2",
                          "StopStart 3",
                          "StopEnd 2",
                          "StopEnd 3",
                          "StopStart 4",
                          "StopEnd 4"));
}

// I8, S5: then it takes a list, whether stop() was called again or not; and everything is released.
TEST_F(ImpatientStop, lets_a_new_list_in_when_everything_has_ended) {
  {
    Scheduler scheduler{verified()};
    auto captured = std::make_shared<int>();
    const std::weak_ptr<int> observed = captured;
    scheduler.initialize({long_task(), {"b", "0 0 1 1 *", [held = std::move(captured)] {}, 1min}});
    begun.pass();
    EXPECT_EQ(scheduler.stop(0ms), Entries{"a"});
    EXPECT_THROW(scheduler.initialize({}), SchedulerAlreadyActiveError);
    may_end.open();
    wait_until_stopped(scheduler);
    EXPECT_TRUE(observed.expired());
    clock->advance(10min);
    EXPECT_THROW(scheduler.initialize({{"", "* * * * *", [] {}, 1min}}), InvalidRegistrationError);
    scheduler.initialize({{"c", "* * * * *", [&] { journal.add("c"); }, 1min}});
    EXPECT_EQ(journal.wait_for(1), Entries{"c"});
  }
  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_THAT(trace.calls,
              ElementsAre("InitStart 1",
                          "InitSuccess 1",
                          "StopStart 2",
                          "InitStart 3",
                          "refused 3",
                          "StopEnd 2",
                          "InitStart 4",
                          "refused 4",
                          "InitStart 5",
                          "InitSuccess 5",
                          "StopStart 6",
                          "StopEnd 6"));
}

// L3: an answer has the time at which it was given, though the lifecycle is read without a lock.
TEST(LastStop, is_answered_before_anybody_sees_that_the_scheduler_has_stopped) {
  struct Watching final : ManualClock {
    using ManualClock::ManualClock;
    [[nodiscard]] Instant now() const override {
      if (calls != nullptr) seen.push_back(calls->lifecycle());
      return ManualClock::now();
    }
    const Calls* calls = nullptr;
    mutable std::vector<Calls::Lifecycle> seen;
  };
  Watching clock{at("2025-03-03T10:00:30Z")};
  Calls calls{clock, Reinitialize::reject, true};
  calls.enter_initialize({}, Calls::Caller::outside);
  calls.leave_initialize();
  const std::uint64_t stop = calls.enter_stop();
  using std::chrono::steady_clock;
  ASSERT_EQ(calls.wait_for_stop(stop, steady_clock::now()), Calls::StopProgress::deadline_passed);
  ASSERT_TRUE(calls.abandon_stop());

  clock.calls = &calls;
  calls.loop_has_ended(Calls::Ends::recorded);

  EXPECT_THAT(clock.seen, ElementsAre(Calls::Lifecycle::stopping));
  EXPECT_EQ(calls.lifecycle(), Calls::Lifecycle::uninitialized);
}

// H5: if an end is lost, the crash is traced when the scheduler gives up; the next stop() throws.
TEST_F(ImpatientStop, that_loses_an_end_is_a_crash) {
  Options durable = verified();
  durable.state = directory.file("state.db");
  {
    Scheduler scheduler{durable};
    scheduler.initialize({long_task()});
    begun.pass();
    EXPECT_EQ(scheduler.stop(0ms), Entries{"a"});
    std::filesystem::rename(durable.state + "-owner", durable.state + "-away");
    may_end.open();
    wait_until_stopped(scheduler, 1s);
    clock->advance(10min);
    EXPECT_THROW(scheduler.stop(), StopSchedulerError);
    scheduler.stop();
  }
  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_THAT(trace.calls,
              ElementsAre("InitStart 1",
                          "InitSuccess 1",
                          "StopStart 2",
                          "Crash",
                          "StopStart 3",
                          "StopEnd 3",
                          "StopStart 4",
                          "StopEnd 4"));
}

// I5: no start is decided after stop() was called, also between the steps of a burst.
TEST_F(CallsTest, of_stop_let_nothing_more_start_in_the_middle_of_a_burst) {
  constexpr int tasks = 5000;
  Options bursting = traced();
  bursting.max_concurrent = 0;
  Scheduler* bursts = nullptr;
  std::thread stopper;
  int started = 0;
  bursting.events = [&](const Event& event) {
    if (event.name != "TaskRunStarted" || ++started != 1000) return;
    stopper = std::thread{[&] { bursts->stop(); }};
    using Lifecycle = SchedulerStatus::Lifecycle;
    while (bursts->status().lifecycle != Lifecycle::stopping) std::this_thread::yield();
  };
  {
    Scheduler scheduler{bursting};
    bursts = &scheduler;
    std::vector<Registration> list;
    for (int i = 0; i < tasks; ++i) {
      list.push_back({"t" + std::to_string(i), "* * * * *", [&] { journal.add("ran"); }, 1min});
    }
    scheduler.initialize(std::move(list));
    journal.wait_for(1000);
    scheduler.stop();
    stopper.join();
  }

  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_EQ(trace.starts_after_stop, 0);
  EXPECT_EQ(trace.starts, started);
  EXPECT_LT(started, tasks);
  EXPECT_EQ(journal.size(), static_cast<std::size_t>(started));
}

// S1, S5, H9: whatever callers do at the same time, nothing starts after stop() was called, an idle
// scheduler rejects no valid list, and every call is answered.
TEST_F(CallsTest, conform_whatever_threads_do_at_once) {
  for (const auto policy : {Reinitialize::reject, Reinitialize::reconcile}) {
    {
      Scheduler scheduler{traced(policy)};
      std::atomic<int> runs = 0;
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          for (int j = 0; j < 40; ++j) {
            if ((i + j) % 3 == 0) {
              scheduler.stop();
            } else {
              try {
                scheduler.initialize({{"a", "* * * * *", [&] { ++runs; }, 0s},
                                      {"b" + std::to_string(i * j % 3),
                                       "* * * * *",
                                       [&] {
                                         if (++runs % 3 == 0) throw 1;
                                       },
                                       1ms}});
              } catch (const SchedulerAlreadyActiveError&) {
              }
            }
            clock->advance(200ms);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      scheduler.stop();
    }
    const Written trace = read_trace();
    EXPECT_THAT(trace.violations, IsEmpty());
    EXPECT_THAT(trace.unanswered, IsEmpty());
    std::filesystem::remove(directory.file("trace.jsonl"));
  }
}

// A trace has no times outside the years 1 to 9999, so time stands still while the clock is there.
TEST(Calls, are_traced_at_the_last_instant_in_the_range_of_the_clock) {
  ManualClock clock{at("2025-03-03T10:00:00Z")};
  Calls calls{clock, Reinitialize::reject, true};
  for (const Instant shown : {at("2025-03-03T10:00:00Z"), Instant::max(), Instant::min()}) {
    clock.set(shown);
    (void)calls.enter_stop();
    for (const TracedEvent& event : calls.take().events) {
      EXPECT_EQ(event.at, at("2025-03-03T10:00:00Z"));
    }
  }
  clock.set(at("2025-03-03T10:00:01Z"));
  (void)calls.enter_stop();
  EXPECT_EQ(calls.take().events.at(0).at, at("2025-03-03T10:00:01Z"));
}

// The same while the clock fails, so that a call that has returned is answered in the trace.
TEST(Calls, are_traced_while_the_clock_fails) {
  class FailingClock : public ManualClock {
   public:
    using ManualClock::ManualClock;
    [[nodiscard]] Instant now() const override {
      if (fails) throw 1;
      return ManualClock::now();
    }
    bool fails = false;
  };
  FailingClock clock{at("2025-03-03T10:00:00Z")};
  Calls calls{clock, Reinitialize::reject, true};
  const auto call = calls.enter_initialize({}, Calls::Caller::outside);
  clock.fails = true;
  EXPECT_ANY_THROW((void)calls.take());
  calls.leave_initialize(call, std::make_exception_ptr(1));
  clock.fails = false;
  const auto events = calls.take().events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<InitFailure>(events[1].event));
  EXPECT_EQ(events[1].at, at("2025-03-03T10:00:00Z"));
}

// I4: calls that wait are admitted one by one.
TEST(Calls, admit_lists_in_the_order_of_their_entry) {
  const ManualClock clock{at("2025-03-03T10:00:00Z")};
  Calls calls{clock, Reinitialize::reconcile, true};
  const auto first = calls.enter_initialize({}, Calls::Caller::outside);
  EXPECT_TRUE(first.first);
  Journal order;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&] {
      const auto call = calls.enter_initialize({}, Calls::Caller::outside);
      EXPECT_FALSE(call.first);
      order.add(std::to_string(call.number.value()));
      calls.leave_initialize();
    });
  }
  // All of them have entered when their events are there.
  for (std::size_t entered = 0; entered < 6; std::this_thread::yield()) {
    entered += calls.take().events.size();
  }
  EXPECT_EQ(order.size(), 0U);
  calls.leave_initialize();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.wait_for(5), (Entries{"2", "3", "4", "5", "6"}));
}

// I5: also if that list fails; and no later list makes a stopped scheduler active.
TEST(Calls, answer_a_stop_when_the_lists_before_it_have_failed) {
  const auto error = std::make_exception_ptr(StoreError{"state.db", "is full"});
  for (const bool stop_first : {true, false}) {
    SCOPED_TRACE(stop_first);
    const ManualClock clock{at("2025-03-03T10:00:00Z")};
    Calls calls{clock, Reinitialize::reconcile, true};
    const auto first = calls.enter_initialize({}, Calls::Caller::outside);
    std::thread waits{[&] {
      try {  // it may be admitted before the stop; otherwise it is rejected
        const auto second = calls.enter_initialize({}, Calls::Caller::outside);
        EXPECT_FALSE(stop_first);
        calls.leave_initialize(second, error);
      } catch (const SchedulerAlreadyActiveError& refused) {
        EXPECT_EQ(refused.current_state(), "running");
      }
    }};
    for (std::size_t entered = 0; entered < 2; std::this_thread::yield()) {
      entered += calls.take().events.size();
    }
    std::uint64_t stop = 0;
    if (stop_first) stop = calls.enter_stop();
    calls.leave_initialize(first, error);
    if (!stop_first) stop = calls.enter_stop();
    EXPECT_EQ(calls.wait_for_stop(stop, {}), Calls::StopProgress::done);
    waits.join();
    EXPECT_TRUE(calls.is_idle());
  }
}

// I5: a stop waits for the list that is being applied, and for no later one.
TEST(Calls, let_a_stop_overtake_lists_that_have_not_begun) {
  const ManualClock clock{at("2025-03-03T10:00:00Z")};
  Calls calls{clock, Reinitialize::reconcile, true};
  (void)calls.enter_initialize({}, Calls::Caller::outside);
  std::thread waits{[&] {
    EXPECT_THROW((void)calls.enter_initialize({}, Calls::Caller::outside),
                 SchedulerAlreadyActiveError);
  }};
  for (std::size_t entered = 0; entered < 2; std::this_thread::yield()) {
    entered += calls.take().events.size();
  }
  EXPECT_EQ(calls.take().stop, Calls::Stop::no);
  const auto stop = calls.enter_stop();
  EXPECT_EQ(calls.take().stop, Calls::Stop::soon);
  EXPECT_EQ(calls.wait_for_stop(stop, std::chrono::steady_clock::now()),
            Calls::StopProgress::deadline_passed);
  calls.leave_initialize();
  waits.join();
  EXPECT_EQ(calls.take().stop, Calls::Stop::now);
  calls.loop_has_ended(Calls::Ends::recorded);
  EXPECT_EQ(calls.wait_for_stop(stop, {}), Calls::StopProgress::loop_ended);
  EXPECT_THROW((void)calls.enter_initialize({}, Calls::Caller::outside),
               SchedulerAlreadyActiveError);
  calls.leave_stop(Calls::Ends::recorded);
  EXPECT_TRUE(calls.is_idle());
  EXPECT_TRUE(calls.enter_initialize({}, Calls::Caller::outside).first);
}

// A stop() that was abandoned when the loop ended is answered; one that waits joins the loop first.
TEST(Calls, answer_a_stop_that_nobody_waits_for_when_the_loop_has_ended) {
  const ManualClock clock{at("2025-03-03T10:00:00Z")};
  for (const bool somebody_waits : {false, true}) {
    SCOPED_TRACE(somebody_waits);
    Calls calls{clock, Reinitialize::reject, true};
    (void)calls.enter_initialize({}, Calls::Caller::outside);
    calls.leave_initialize();
    (void)calls.enter_stop();
    const auto stop = calls.enter_stop();
    EXPECT_TRUE(calls.abandon_stop());
    if (!somebody_waits) {
      EXPECT_TRUE(calls.abandon_stop());
    }
    (void)calls.take();
    calls.loop_has_ended(Calls::Ends::recorded);
    EXPECT_EQ(calls.take().events.size(), somebody_waits ? 0U : 2U);
    EXPECT_EQ(calls.lifecycle(),
              somebody_waits ? Calls::Lifecycle::stopping : Calls::Lifecycle::uninitialized);
    EXPECT_FALSE(calls.is_idle());
    if (somebody_waits) {
      EXPECT_FALSE(calls.abandon_stop());
      EXPECT_EQ(calls.wait_for_stop(stop, {}), Calls::StopProgress::loop_ended);
      calls.leave_stop(Calls::Ends::recorded);
      EXPECT_EQ(calls.take().events.size(), 2U);
      EXPECT_TRUE(calls.is_idle());
    }
    EXPECT_EQ(calls.enter_initialize({}, Calls::Caller::outside).must_join, !somebody_waits);
  }
}

}  // namespace
}  // namespace dutiful
