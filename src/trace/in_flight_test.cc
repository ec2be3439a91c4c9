#include "trace/in_flight.h"

#include <gtest/gtest.h>

#include "support/times.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

const Instant noon = at("2025-03-03T12:00:00Z");
const Instant one = at("2025-03-03T13:00:00Z");
const Instant two = at("2025-03-03T14:00:00Z");

const TracedRegistration hourly{"a", "0 * * * *", {}};

// The newest run of `a` in a state.
struct State {
  Instant started;
  bool running;
  std::optional<Instant> succeeded;
  std::optional<Instant> failed;
};

std::string missing_events(const InFlight& trace, const State& state) {
  const bool awaits_retry = !state.running && state.failed > state.succeeded;
  const DurableTask task{
      hourly, state.running, awaits_retry, false, state.started, state.succeeded, state.failed};
  std::string text;
  for (const TracedEvent& event : trace.missing_events(std::span{&task, 1})) {
    if (std::holds_alternative<InitSuccess>(event.event)) {
      text += "initialized;";
      continue;
    }
    text += to_line(event.at, event.event).substr(18, 5) + ' ' +
            std::string{std::holds_alternative<RunStart>(event.event)     ? "start"
                        : std::holds_alternative<RunSuccess>(event.event) ? "success"
                                                                          : "failure"} +
            ';';
  }
  return text;
}

InFlight active() {
  InFlight trace;
  trace.on(noon, InitStart{{hourly}});
  trace.on(noon, InitSuccess{});
  return trace;
}

InFlight running_since_noon() {
  InFlight trace = active();
  trace.on(noon, RunStart{"a", "cron"});
  return trace;
}

TEST(InFlight, knows_whether_a_scheduler_is_alive) {
  InFlight trace;
  EXPECT_FALSE(trace.alive());
  trace.on(noon, InitStart{});
  EXPECT_TRUE(trace.alive());
  trace.on(noon, InitFailure{"any"});
  EXPECT_FALSE(trace.alive());
  trace.on(noon, InitStart{});
  trace.on(noon, InitSuccess{});
  EXPECT_TRUE(trace.alive());
  trace.on(noon, StopStart{});
  trace.on(noon, StopEnd{});
  EXPECT_FALSE(trace.alive());
  trace.on(noon, RunStart{"a", "cron"});
  EXPECT_TRUE(trace.alive());
  trace.on(noon, Crash{});
  EXPECT_FALSE(trace.alive());
}

TEST(InFlight, ignores_answers_without_a_call) {
  InFlight trace;
  trace.on(noon, StopEnd{});
  trace.on(noon, InitFailure{"any"});
  EXPECT_FALSE(trace.alive());
}

TEST(InFlight, keeps_the_list_of_a_call_when_a_concurrent_one_is_rejected) {
  InFlight trace;
  trace.on(noon, InitStart{{hourly}});
  trace.on(noon, InitStart{});
  trace.on(noon, InitFailure{"SchedulerAlreadyActiveError"});
  EXPECT_EQ(missing_events(trace, {{}, false, {}, {}}), "initialized;");
}

TEST(InFlight, adds_nothing_to_a_complete_trace) {
  EXPECT_EQ(missing_events(running_since_noon(), {noon, true, {}, {}}), "");
  EXPECT_EQ(missing_events(running_since_noon(), {noon, true, noon, {}}), "");
  EXPECT_EQ(missing_events(active(), {noon, false, noon, {}}), "");
}

TEST(InFlight, adds_an_end_that_was_recorded) {
  EXPECT_EQ(missing_events(running_since_noon(), {noon, false, one, {}}), "13:00 success;");
  EXPECT_EQ(missing_events(running_since_noon(), {noon, false, {}, one}), "13:00 failure;");
  EXPECT_EQ(missing_events(running_since_noon(), {noon, false, noon - std::chrono::hours{1}, one}),
            "13:00 failure;");
}

TEST(InFlight, trusts_the_state_if_two_ends_share_a_millisecond) {
  for (const bool failed : {false, true}) {
    const DurableTask task{hourly, false, failed, false, noon, noon, noon};
    const auto events = running_since_noon().missing_events(std::span{&task, 1});
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(std::holds_alternative<RunFailure>(events[0].event), failed);
  }
}

TEST(InFlight, adds_a_start_that_was_recorded) {
  EXPECT_EQ(missing_events(active(), {noon, true, {}, {}}), "12:00 start;");
}

TEST(InFlight, adds_an_end_and_a_start_of_one_transaction) {
  EXPECT_EQ(missing_events(running_since_noon(), {two, true, one, {}}),
            "13:00 success;14:00 start;");
}

TEST(InFlight, adds_the_answer_to_a_list_that_was_registered) {
  InFlight trace;
  trace.on(noon, InitStart{{hourly}});
  EXPECT_EQ(missing_events(trace, {{}, false, {}, {}}), "initialized;");
  trace.on(noon, Crash{});
  trace.on(noon, InitStart{{{"a", "30 * * * *", {}}}});
  EXPECT_EQ(missing_events(trace, {{}, false, {}, {}}), "");
}

TEST(InFlight, adds_nothing_for_runs_that_an_earlier_crash_interrupted) {
  InFlight trace = running_since_noon();
  trace.on(one, Crash{});
  EXPECT_EQ(missing_events(trace, {noon, true, {}, {}}), "");
  trace.on(two, InitStart{{{"a", "30 * * * *", {}}}});
  EXPECT_EQ(missing_events(trace, {noon, true, {}, {}}), "");
}

TEST(InFlight, does_not_expect_the_end_of_a_run_that_was_interrupted_alone) {
  InFlight trace = running_since_noon();
  trace.on(one, RunInterrupted{"a"});
  EXPECT_EQ(missing_events(trace, {noon, true, {}, {}}), "");
  EXPECT_EQ(missing_events(trace, {two, true, {}, {}}), "14:00 start;");
  trace.on(two, RunStart{"a", "orphan"});
  EXPECT_EQ(missing_events(trace, {two, false, two, {}}), "14:00 success;");
}

}  // namespace
}  // namespace dutiful
