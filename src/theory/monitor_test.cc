#include "theory/monitor.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful::theory {
namespace {

using namespace std::chrono_literals;

// A trace written event by event, and the verdicts of the judge.
class Trace {
 public:
  explicit Trace(Setting setting = {})
      : monitor_(setting, [this](const Violation& violation) {
          verdicts_.push_back(violation.text());
          axioms_ += (axioms_.empty() ? "" : " ") + std::string{violation.axiom};
        }) {}

  Trace& on(const std::string& time, const TraceEvent& event) {
    monitor_.on(line_++, at("2025-03-03T" + time + "Z"), event);
    return *this;
  }
  Trace& initialize(const std::string& time, std::vector<TracedRegistration> list) {
    return on(time, InitStart{std::move(list)}).on(time, InitSuccess{});
  }
  Trace& start(const std::string& time, const std::string& task) {
    return on(time, RunStart{task, "cron"});
  }
  Trace& run(const std::string& time, const std::string& task) {
    return start(time, task).on(time, RunSuccess{task});
  }

  [[nodiscard]] const std::string& axioms() const { return axioms_; }
  [[nodiscard]] const std::vector<std::string>& verdicts() const { return verdicts_; }
  [[nodiscard]] std::vector<std::string> open() const {
    std::vector<std::string> texts;
    for (const Open& open : monitor_.open()) texts.push_back(open.text());
    return texts;
  }

 private:
  Monitor monitor_;
  std::size_t line_ = 2;
  std::vector<std::string> verdicts_;
  std::string axioms_;
};

const TracedRegistration hourly{"a", "0 * * * *", 5min};
const TracedRegistration other_hourly{"b", "0 * * * *", 5min};

TEST(Monitor, accepts_an_ordinary_day) {
  Trace trace;
  trace.initialize("00:00:30", {hourly}).run("00:00:30", "a");
  for (int hour = 1; hour < 24; ++hour) {
    const std::string hh = (hour < 10 ? "0" : "") + std::to_string(hour);
    trace.start(hh + ":00:00.010", "a").on(hh + ":20:00", RunSuccess{"a"});
  }
  trace.on("23:59:00", StopStart{}).on("23:59:00", StopEnd{});
  EXPECT_EQ(trace.axioms(), "");
  EXPECT_TRUE(trace.open().empty());
}

TEST(Monitor, says_why_a_start_was_not_owed) {
  EXPECT_EQ(
      Trace{}.start("00:00:00", "a").verdicts().at(0),
      "S1 violated at line 2 (2025-03-03T00:00:00.000Z): \"a\" was started without being owed "
      "a run: it is not registered");
  EXPECT_EQ(
      Trace{}
          .initialize("00:00:00", {hourly})
          .run("00:00:00", "a")
          .start("00:59:59.999", "a")
          .verdicts()
          .at(0),
      "S1 violated at line 6 (2025-03-03T00:59:59.999Z): \"a\" was started without being owed "
      "a run: it has no pulse after 2025-03-03T00:00:00.000Z");
  EXPECT_EQ(
      Trace{}
          .initialize("00:00:00", {hourly})
          .start("00:00:00", "a")
          .start("01:00:00", "a")
          .verdicts()
          .at(0),
      "S1 violated at line 5 (2025-03-03T01:00:00.000Z): \"a\" was started without being owed "
      "a run: it is running since 2025-03-03T00:00:00.000Z");
  EXPECT_EQ(
      Trace{}
          .initialize("00:00:00", {hourly})
          .on("00:00:01", StopStart{})
          .start("00:00:02", "a")
          .verdicts()
          .at(0),
      "S1 violated at line 5 (2025-03-03T00:00:02.000Z): \"a\" was started without being owed "
      "a run: the scheduler is not active");
  EXPECT_EQ(
      Trace{}
          .initialize("00:00:00", {hourly})
          .start("00:00:00", "a")
          .on("00:01:00", RunFailure{"a"})
          .start("00:05:59", "a")
          .verdicts()
          .at(0),
      "S1 violated at line 6 (2025-03-03T00:05:59.000Z): \"a\" was started without being owed "
      "a run: it has no pulse after 2025-03-03T00:00:00.000Z, and its retry is due at "
      "2025-03-03T00:06:00.000Z");
}

// H1, K4: a first coming is owed a run if its minute matches the expression, until it is started.
TEST(Monitor, owes_a_new_task_a_run_only_in_a_matching_minute) {
  EXPECT_EQ(Trace{}.initialize("00:00:59.999", {hourly}).start("00:01:30", "a").axioms(), "");
  EXPECT_EQ(Trace{}.initialize("00:01:00", {hourly}).start("00:01:00", "a").axioms(), "S1");
}

// H2: a start cancels the retry.
TEST(Monitor, lets_a_pulse_preempt_a_retry) {
  Trace trace;
  trace.initialize("00:30:00", {hourly}).start("01:00:00", "a").on("01:59:00", RunFailure{"a"});
  trace.run("02:00:00", "a");
  EXPECT_EQ(trace.start("02:04:00", "a").axioms(), "S1");
}

TEST(Monitor, owes_an_interrupted_run_until_its_task_starts_again) {
  Trace trace;
  trace.initialize("00:30:00", {hourly}).start("01:00:00", "a").on("01:10:00", Crash{});
  trace.initialize("01:20:00", {hourly});
  EXPECT_EQ(trace.open().at(0),
            "L1 is open since 2025-03-03T01:20:00.000Z: \"a\" is interrupted by the crash at "
            "2025-03-03T01:10:00.000Z");
  EXPECT_EQ(trace.run("01:20:30", "a").axioms(), "");
  EXPECT_TRUE(trace.open().empty());
}

// A second crash does not interrupt a run that the first has already interrupted.
TEST(Monitor, forgets_an_interrupted_run_with_its_task) {
  Trace trace;
  trace.initialize("00:30:00", {hourly}).start("01:00:00", "a").on("01:10:00", Crash{});
  trace.initialize("01:20:00", {}).initialize("01:30:00", {hourly}).on("01:31:00", Crash{});
  EXPECT_EQ(trace.initialize("01:32:00", {hourly}).start("01:32:00", "a").axioms(), "S1");
}

TEST(Monitor, counts_successes_from_pulse_to_pulse) {
  Trace trace;
  trace.initialize("00:00:00", {hourly}).run("00:00:00", "a").run("00:10:00", "a");
  EXPECT_EQ(trace.axioms(), "S1 S2");
  EXPECT_EQ(trace.verdicts().at(1),
            "S2 violated at line 7 (2025-03-03T00:10:00.000Z): \"a\" succeeded twice with no pulse "
            "between: it was started at 2025-03-03T00:00:00.000Z and at 2025-03-03T00:10:00.000Z");
}

// H8: a change of the cron text restarts the count.
TEST(Monitor, restarts_the_count_with_a_new_schedule) {
  Trace trace;
  trace.initialize("00:00:00", {hourly}).start("00:00:00", "a").on("00:00:10", RunFailure{"a"});
  trace.run("00:05:10", "a");
  // The pulse of 00:10 is owed, after the success of 00:05:10.
  trace.initialize("00:20:00", {{"a", "10 * * * *", 5min}}).run("00:20:00", "a");
  EXPECT_EQ(trace.axioms(), "");
}

TEST(Monitor, requires_a_stop_to_wait_for_runs) {
  Trace trace;
  trace.initialize("00:00:00", {hourly}).start("00:00:00", "a").on("00:00:01", StopStart{});
  EXPECT_EQ(
      trace.on("00:00:02", StopEnd{}).verdicts().at(0),
      "S3 violated at line 6 (2025-03-03T00:00:02.000Z): a stop ended while \"a\" was running");
  Trace two;
  two.initialize("00:00:00", {other_hourly, hourly}).start("00:00:00", "b").start("00:00:00", "a");
  EXPECT_EQ(two.on("00:00:00", StopStart{}).on("00:00:02", StopEnd{}).verdicts().at(0),
            "S3 violated at line 7 (2025-03-03T00:00:02.000Z): a stop ended while \"a\" and 1 more "
            "were running");
}

// H7
TEST(Monitor, blames_an_end_without_a_start_on_the_scheduler_or_the_environment) {
  EXPECT_EQ(Trace{}
                .initialize("00:00:00", {hourly})
                .run("00:00:00", "a")
                .on("00:00:01", RunSuccess{"a"})
                .axioms(),
            "S4");
  EXPECT_EQ(Trace{}
                .initialize("00:00:00", {hourly})
                .start("00:00:00", "a")
                .on("00:00:01", Crash{})
                .on("00:00:01", RunSuccess{"a"})
                .axioms(),
            "EA6");
  EXPECT_EQ((Violation{"EA6", 1, {}, ""}.blame()), Blame::environment);
  EXPECT_EQ((Violation{"S4", 1, {}, ""}.blame()), Blame::scheduler);
}

// S5, H9
TEST(Monitor, requires_valid_lists_to_be_accepted_and_others_rejected) {
  const auto answer = [](const std::vector<TracedRegistration>& list, const TraceEvent& event) {
    return Trace{}.on("00:00:00", InitStart{list}).on("00:00:00", event).axioms();
  };
  EXPECT_EQ(answer({hourly}, InitSuccess{}), "");
  EXPECT_EQ(answer({hourly}, InitFailure{"StoreError"}), "S5");
  for (const TracedRegistration& invalid : {hourly,
                                            TracedRegistration{"", "* * * * *", 0ms},
                                            TracedRegistration{"b", "@daily", 0ms},
                                            TracedRegistration{"b", "* * * * *", -1ms}}) {
    EXPECT_EQ(answer({hourly, invalid}, InitSuccess{}), "S5") << invalid.name;
    EXPECT_EQ(answer({hourly, invalid}, InitFailure{"any"}), "") << invalid.name;
  }
  EXPECT_EQ(Trace{}
                .initialize("00:01:00", {hourly})
                .on("00:02:00", InitStart{{hourly}})
                .on("00:02:00", InitFailure{"SchedulerAlreadyActiveError"})
                .axioms(),
            "");
  EXPECT_EQ(Trace{}.on("00:00:00", InitSuccess{}).axioms(), "S5");
}

// H12: a valid list respects the limits on names and texts.
TEST(Monitor, knows_the_limits_of_a_valid_list) {
  const auto answer = [](const TracedRegistration& registration, const TraceEvent& event) {
    return Trace{}.on("00:00:00", InitStart{{registration}}).on("00:00:00", event).axioms();
  };
  const std::string text = std::string(1016, '0') + " * * * *";
  for (const auto& [name, cron, valid] : {std::tuple{std::string(1024, 'a'), text, true},
                                          std::tuple{std::string(1025, 'a'), text, false},
                                          std::tuple{std::string{"a"}, '0' + text, false}}) {
    EXPECT_EQ(answer({name, cron, 0ms}, InitSuccess{}), valid ? "" : "S5");
    EXPECT_EQ(answer({name, cron, 0ms}, InitFailure{"InvalidRegistrationError"}),
              valid ? "S5" : "");
  }
}

TEST(Monitor, requires_a_start_within_its_budget) {
  // 27 bytes of JSON at 8 µs each, a second to compute, a minute of lag
  const auto started = [](const std::string& time) {
    return Trace{}.initialize("00:30:00", {hourly}).start(time, "a").axioms();
  };
  EXPECT_EQ(started("01:01:01.000"), "");
  EXPECT_EQ(started("01:01:01.001"), "L1");
  EXPECT_EQ(
      Trace{}.initialize("00:30:00", {hourly}).start("01:01:02", "a").verdicts().at(0),
      "L1 violated at line 4 (2025-03-03T01:01:02.000Z): \"a\" was not started within 61.001 s "
      "of 2025-03-03T01:00:00.000Z; it is due since 2025-03-03T01:00:00.000Z");
}

TEST(Monitor, reports_a_missed_budget_once) {
  Trace trace;
  trace.initialize("00:30:00", {hourly, other_hourly}).run("01:00:00", "b");
  trace.run("02:00:00", "b").run("03:00:00", "b");
  EXPECT_EQ(trace.axioms(), "L1");
  EXPECT_EQ(trace.run("03:00:00", "a").run("04:00:00", "b").on("04:02:00", StopStart{}).axioms(),
            "L1 L1");
}

// H6, FORMATS: no compute is granted while frozen.
TEST(Monitor, does_not_count_frozen_time) {
  EXPECT_EQ(Trace{}
                .initialize("00:30:00", {hourly})
                .on("00:59:00", Freeze{at("2025-03-03T02:30:00Z")})
                .start("02:31:01", "a")
                .axioms(),
            "");
  EXPECT_EQ(Trace{}
                .initialize("00:30:00", {hourly})
                .on("00:59:00", Freeze{at("2025-03-03T02:30:00Z")})
                .start("02:31:02", "a")
                .axioms(),
            "L1");
  EXPECT_EQ(Trace{}
                .initialize("00:30:00", {hourly})
                .on("00:59:00", Freeze{at("2025-03-03T02:30:00Z")})
                .start("02:29:59", "a")
                .axioms(),
            "EA2");
}

// H10
TEST(Monitor, does_not_count_time_while_the_limit_of_runs_is_reached) {
  const auto second = [](std::size_t bound) {
    return Trace{{.max_concurrent = bound}}
        .initialize("00:30:00", {hourly, other_hourly})
        .start("01:00:00", "a")
        .on("01:30:00", RunSuccess{"a"})
        .run("01:31:00", "b")
        .axioms();
  };
  EXPECT_EQ(second(1), "");
  EXPECT_EQ(second(2), "L1");
}

// H10: the time to notice that a callback has returned is the scheduler's.
TEST(Monitor, counts_time_again_when_a_callback_returns) {
  const auto second = [](const char* ended) {
    return Trace{{.max_concurrent = 1}}
        .initialize("00:30:00", {hourly, other_hourly})
        .start("01:00:00", "a")
        .on("01:30:00", RunSuccess{"a", at(std::string{"2025-03-03T"} + ended + "Z")})
        .run("01:30:00", "b")
        .axioms();
  };
  EXPECT_EQ(second("01:29:30"), "");
  EXPECT_EQ(second("01:28:58"), "L1");
  EXPECT_EQ(second("00:00:00"), "L1");  // a callback cannot return before its start
}

// H10: in whichever order several ends are recorded.
TEST(Monitor, accepts_late_ends_in_any_order) {
  const TracedRegistration third{"c", "0 * * * *", 5min};
  const auto axioms = [&](const char* first, const char* second) {
    const auto ended = [](const char* name) {
      return at(*name == 'a' ? "2025-03-03T01:01:00Z" : "2025-03-03T01:28:00Z");
    };
    return Trace{{.max_concurrent = 2}}
        .initialize("00:30:00", {hourly, other_hourly, third})
        .start("01:00:00", "a")
        .start("01:00:00", "b")
        .on("01:29:00", RunSuccess{first, ended(first)})
        .on("01:29:00", RunSuccess{second, ended(second)})
        .run("01:29:00", "c")
        .axioms();
  };
  EXPECT_EQ(axioms("a", "b"), "L1");
  EXPECT_EQ(axioms("b", "a"), "L1");
}

// H12
TEST(Monitor, does_not_blame_a_scheduler_if_the_environment_refuses_a_list) {
  std::vector<std::string> refused;
  std::size_t violations = 0;
  Monitor monitor{{},
                  [&](const Violation& /*violation*/) { ++violations; },
                  [&](const Refusal& refusal) { refused.push_back(refusal.text()); }};
  const Instant noon = at("2025-03-03T12:00:00Z");
  monitor.on(2, noon, InitStart{{hourly}});
  monitor.on(3, noon, InitFailure{"StateHeldError", RefusalCause::environment});
  monitor.on(4, noon, InitStart{{hourly}});
  monitor.on(5, noon, InitFailure{"InvalidRegistrationError", RefusalCause::unseen});
  EXPECT_EQ(violations, 0U);
  EXPECT_EQ(refused,
            std::vector<std::string>{"the environment refused an initialize at line 3 "
                                     "(2025-03-03T12:00:00.000Z): StateHeldError"});

  monitor.on(6, noon, InitStart{{hourly}});
  monitor.on(7, noon, InitFailure{"StateHeldError"});
  EXPECT_EQ(violations, 1U);
}

// H12: an answer belongs to the call with its number.
TEST(Monitor, pairs_calls_and_answers_by_their_number) {
  const TracedRegistration invalid{"b", "@daily", 0ms};
  EXPECT_EQ(Trace{}
                .on("00:00:00", InitStart{{hourly}, 1})
                .on("00:00:00", InitStart{{invalid}, 2})
                .on("00:00:00", InitSuccess{2})
                .axioms(),
            "S5");
  EXPECT_EQ(Trace{}
                .on("00:00:00", InitStart{{hourly}, 1})
                .on("00:00:00", InitStart{{invalid}, 2})
                .on("00:00:00", InitFailure{"Error", RefusalCause::list, 1})
                .axioms(),
            "S5");
  Trace stops;
  stops.initialize("00:00:00", {hourly}).run("00:00:00", "a");
  stops.on("00:00:10", StopStart{1}).on("00:00:30", StopStart{2}).on("00:00:40", StopEnd{2});
  EXPECT_EQ(stops.open().at(0),
            "L3 is open since 2025-03-03T00:00:10.000Z: a stop has not returned");
}

// H12: a scheduler that never had a list has nothing to stop.
TEST(Monitor, does_not_bound_a_stop_if_there_was_never_a_list) {
  EXPECT_EQ(Trace{}.on("01:00:00", StopStart{}).on("02:00:00", StopEnd{}).axioms(), "");
  EXPECT_EQ(Trace{}
                .initialize("00:00:00", {})
                .on("01:00:00", StopStart{})
                .on("02:00:00", StopEnd{})
                .axioms(),
            "L3");
  EXPECT_EQ(Trace{}
                .initialize("00:00:00", {})
                .on("00:30:00", Crash{})
                .on("01:00:00", StopStart{})
                .on("02:00:00", StopEnd{})
                .axioms(),
            "");
}

TEST(Monitor, requires_initialize_and_stop_to_return) {
  EXPECT_EQ(Trace{}.on("00:00:00", InitStart{{hourly}}).on("00:01:01.001", InitSuccess{}).axioms(),
            "L2");
  EXPECT_EQ(Trace{}.on("00:00:00", InitStart{{hourly}}).on("00:01:01", InitSuccess{}).axioms(), "");
  Trace slow;
  slow.initialize("00:00:00", {hourly}).start("00:00:00", "a").on("00:00:10", StopStart{});
  slow.on("00:10:00", RunSuccess{"a"});
  EXPECT_EQ(slow.open().at(0),
            "L3 is open since 2025-03-03T00:00:10.000Z: a stop has not returned");
  EXPECT_EQ(
      slow.on("00:11:02", StopEnd{}).verdicts().at(0),
      "L3 violated at line 7 (2025-03-03T00:11:02.000Z): the stop of 2025-03-03T00:00:10.000Z "
      "had not returned 61.001 s after the last callback ended");
}

// H6: this includes an obligation that arises with the last event.
TEST(Monitor, reports_a_retry_without_delay_as_open) {
  Trace trace;
  trace.initialize("00:00:00", {{"a", "* * * * *", 0ms}}).start("00:00:00", "a");
  EXPECT_EQ(trace.on("00:00:01", RunFailure{"a"}).open().size(), 1U);
}

TEST(Monitor, matches_an_answer_to_the_initialize_that_it_fits) {
  const TracedRegistration invalid{"b", "@daily", 0ms};
  Trace trace;
  trace.on("00:00:00", InitStart{{hourly}}).on("00:00:00", InitStart{{invalid}});
  trace.on("00:00:00", InitFailure{"CronExpressionInvalidError"}).on("00:00:00", InitSuccess{});
  EXPECT_EQ(trace.start("00:00:01", "a").axioms(), "");
}

// H3: an initialize overtaken by a stop does not activate.
TEST(Monitor, is_not_activated_by_an_initialize_that_a_stop_overtook) {
  Trace trace;
  trace.on("00:00:00", InitStart{{hourly}}).on("00:00:00", StopStart{});
  trace.on("00:00:00", InitSuccess{}).on("00:00:00", StopEnd{});
  EXPECT_EQ(trace.start("00:00:01", "a").axioms(), "S1");
}

// H10: under `reset_history` an override is a first coming.
TEST(Monitor, forgets_obligations_when_the_history_is_reset) {
  const auto overridden = [](Override policy) {
    return Trace{{.override = policy}}
        .initialize("00:30:00", {hourly})
        .on("00:40:00", StopStart{})
        .on("00:40:00", StopEnd{})
        .initialize("01:30:00", {{"a", "0 * * * *", 1min}})
        .start("01:30:00", "a")
        .axioms();
  };
  EXPECT_EQ(overridden(Override::keep_history), "");
  EXPECT_EQ(overridden(Override::reset_history), "S1");
}

// T4, H10: in New York the clocks of 2025-11-02 show 01:30 twice.
TEST(Monitor, ignores_the_second_occurrence_under_first_only) {
  const auto booted = [](RepeatedMinutes policy) {
    std::string axioms;
    Monitor monitor{{.zone = Zone::load("America/New_York"), .repeated_minutes = policy},
                    [&](const Violation& violation) { axioms += violation.axiom; }};
    const Instant second = at("2025-11-02T06:30:10Z");
    monitor.on(2, second, InitStart{{{"a", "* * * * *", 0ms}}});
    monitor.on(3, second, InitSuccess{});
    monitor.on(4, second, RunStart{"a", "boot"});
    return axioms;
  };
  EXPECT_EQ(booted(RepeatedMinutes::both), "");
  EXPECT_EQ(booted(RepeatedMinutes::first_only), "S1");
}

}  // namespace
}  // namespace dutiful::theory
