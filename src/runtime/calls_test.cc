// Calls from many threads, and the trace of them (RULES I4, I5, H12).

#include "runtime/calls.h"

#include <atomic>
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

  // Every event but runs, "InitStart 1".
  struct Written {
    std::vector<std::string> calls;
    std::vector<std::string> violations;
    std::map<std::uint64_t, int> unanswered;
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
      } else if (const auto* stopped = std::get_if<StopEnd>(&event.event)) {
        called("StopEnd", stopped->call, -1);
      } else if (std::holds_alternative<Crash>(event.event)) {
        written.calls.emplace_back("Crash");
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

TEST_F(CallsTest, that_the_world_refuses_are_no_crash) {
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

// A stop that ran out of patience is answered when everything has ended, by whatever call.
TEST_F(CallsTest, of_an_impatient_stop_are_answered_in_the_end) {
  {
    Scheduler scheduler{traced()};
    Gate begun;
    Gate gate;
    scheduler.initialize({{"a",
                           "* * * * *",
                           [&] {
                             begun.open();
                             gate.pass();
                           },
                           1min}});
    begun.pass();
    EXPECT_EQ(scheduler.stop(0ms).size(), 1U);
    gate.open();
    scheduler.stop();
  }
  const Written trace = read_trace();
  EXPECT_THAT(trace.violations, IsEmpty());
  EXPECT_THAT(
      trace.calls,
      ElementsAre(
          "InitStart 1", "InitSuccess 1", "StopStart 2", "StopStart 3", "StopEnd 2", "StopEnd 3"));
}

// S1, S5, H9: whatever callers do at once, nothing starts after a stop was called, no valid list is
// refused by an idle scheduler, and every call has its answer.
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

// A trace has no line for a clock outside the years 1 to 9999: for it, time stands still.
TEST(Calls, are_told_at_the_last_instant_that_the_clock_has_shown) {
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

// I4: those that wait are let in one by one, in the order of their entry.
TEST(Calls, let_lists_in_by_the_order_of_their_entry) {
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
  // All of them have entered when the trace has been told so.
  for (std::size_t entered = 0; entered < 6; std::this_thread::yield()) {
    entered += calls.take().events.size();
  }
  EXPECT_EQ(order.size(), 0U);
  calls.leave_initialize();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.wait_for(5), (Entries{"2", "3", "4", "5", "6"}));
}

// I5: also where that list fails; and none of those behind it makes a stopped scheduler active.
TEST(Calls, answer_a_stop_when_the_lists_before_it_have_failed) {
  const auto error = std::make_exception_ptr(StoreError{"state.db", "is full"});
  for (const bool stop_first : {true, false}) {
    SCOPED_TRACE(stop_first);
    const ManualClock clock{at("2025-03-03T10:00:00Z")};
    Calls calls{clock, Reinitialize::reconcile, true};
    const auto first = calls.enter_initialize({}, Calls::Caller::outside);
    std::thread waits{[&] {
      try {  // its turn may come before the stop; otherwise it is refused because of that
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

// I5: a stop waits for the list that is being applied, and for none of those behind it.
TEST(Calls, let_a_stop_pass_those_that_have_not_begun) {
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
  calls.loop_has_ended();
  EXPECT_EQ(calls.wait_for_stop(stop, {}), Calls::StopProgress::loop_ended);
  EXPECT_THROW((void)calls.enter_initialize({}, Calls::Caller::outside),
               SchedulerAlreadyActiveError);
  calls.leave_stop(Calls::Ends::recorded);
  EXPECT_TRUE(calls.is_idle());
  EXPECT_TRUE(calls.enter_initialize({}, Calls::Caller::outside).first);
}

}  // namespace
}  // namespace dutiful
