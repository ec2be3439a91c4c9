#include "daemon/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "daemon/task_group.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Result = RunSpan::Result;

const Instant noon = at("2025-03-03T12:00:00Z");

TEST(Timeline, shows_failing_tasks_first_then_overdue_and_running_ones) {
  const std::vector<TaskStatus> tasks{
      {.name = "a"},
      {.name = "b", .state = TaskStatus::State::running},
      {.name = "c", .overdue_since = noon},
      {.name = "d", .state = TaskStatus::State::running, .last_failure = noon},
      {.name = "e", .state = TaskStatus::State::awaiting_retry, .overdue_since = noon},
      {.name = "f"}};
  std::string text;
  for (const TaskStatus& task : sorted_by_group(tasks, "")) {
    text += std::string{task.name} + ' ' + name_of(group_of(task)) + ' ';
  }
  EXPECT_EQ(text, "d failing e failing c overdue b running a good f good ");
}

TEST(Timeline, shows_only_tasks_whose_names_contain_a_text) {
  const std::vector<TaskStatus> tasks{
      {.name = "Nightly backup"}, {.name = "backup"}, {.name = "x"}};
  EXPECT_EQ(sorted_by_group(tasks, "BACK").size(), 2);
  EXPECT_EQ(sorted_by_group(tasks, "nightly B").size(), 1);
  EXPECT_THAT(sorted_by_group(tasks, "backups"), IsEmpty());
}

TEST(Timeline, merges_runs_with_the_same_result_that_are_close) {
  const auto run = [](Duration from, Duration until, Result result = Result::succeeded) {
    return RunSpan{noon + from, noon + until, result};
  };
  std::vector<RunSpan> runs{run(0s, 1s),
                            run(60s, 61s),
                            run(121s, 122s),  // exactly a step later
                            run(123s, 124s, Result::failed),
                            run(125s, 125s, Result::interrupted),
                            run(126s, 127s),
                            run(128s, 129s, Result::running)};
  auto merged = runs;
  merge(merged, 60s);
  runs[0].until = runs[1].until;
  runs[0].count = 2;
  runs.erase(runs.begin() + 1);
  EXPECT_EQ(merged, runs);
  merge(merged, 0s);
  EXPECT_EQ(merged, runs);
  std::vector<RunSpan> none;
  merge(none, 60s);
  EXPECT_THAT(none, IsEmpty());
}

// If the clock was set back, a run may begin before the end of the one before.
TEST(Timeline, merges_nothing_without_a_step) {
  std::vector<RunSpan> runs{{noon, noon + 10s}, {noon + 5s, noon + 6s}};
  merge(runs, 0s);
  EXPECT_EQ(runs.size(), 2);
  merge(runs, 1ms);
  EXPECT_THAT(runs, ElementsAre(RunSpan{noon, noon + 10s, Result::succeeded, 2}));
}

// The slow twin: two runs are in one bar if no pair of neighbours between them is apart.
RC_GTEST_PROP(Timeline, merges_runs_as_its_slow_twin, ()) {
  std::vector<RunSpan> runs;
  Instant time = noon;
  const auto count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) {
    time += Duration{*rc::gen::inRange(0, 6)};
    const Instant from = time;
    time += Duration{*rc::gen::inRange(0, 3)};
    runs.push_back({from, time, *rc::gen::element(Result::succeeded, Result::failed)});
  }
  const Duration step{*rc::gen::inRange(0, 6)};

  const auto are_apart = [&](std::size_t i) {
    return runs[i].result != runs[i + 1].result || runs[i + 1].from - runs[i].until >= step;
  };
  const auto are_one = [&](std::size_t i, std::size_t j) {
    for (; i < j; ++i) {
      if (are_apart(i)) return false;
    }
    return true;
  };
  std::vector<RunSpan> bars;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0 && are_one(i - 1, i)) continue;  // no first one
    std::size_t last = i;
    for (std::size_t j = i; j < runs.size(); ++j) {
      if (are_one(i, j)) last = j;
    }
    bars.push_back(
        {runs[i].from, runs[last].until, runs[i].result, static_cast<std::int64_t>(last - i + 1)});
  }

  merge(runs, step);
  RC_ASSERT(runs == bars);
}

TEST(Timeline, shows_the_run_in_progress_until_now) {
  const TimelineWindow window{.from = noon - 24h, .until = noon + 24h};
  TaskStatus task{.name = "a", .state = TaskStatus::State::running, .last_attempt = noon - 1h};
  std::vector<RunSpan> runs;
  add_running(runs, task, window, noon);
  EXPECT_THAT(runs, ElementsAre(RunSpan{noon - 1h, noon, Result::running}));

  // The history has it already: its end is about to be recorded.
  runs = {{noon - 1h, noon - 1s}};
  add_running(runs, task, window, noon);
  EXPECT_EQ(runs.size(), 1);

  // The clock was set back.
  runs.clear();
  add_running(runs, task, window, noon - 2h);
  EXPECT_THAT(runs, ElementsAre(RunSpan{noon - 1h, noon - 1h, Result::running}));

  runs.clear();
  add_running(runs, task, {.from = noon - 24h, .until = noon - 1h}, noon);
  add_running(runs, task, {.from = noon + 1ms, .until = noon + 1h}, noon);
  task.state = TaskStatus::State::awaiting_run;
  add_running(runs, task, window, noon);
  EXPECT_THAT(runs, IsEmpty());
}

TEST(Timeline, shows_the_pulses_after_now) {
  const Calendar calendar{Zone::utc()};
  const auto bands = [&](const char* cron, const TimelineWindow& window, std::size_t limit = 100) {
    return pulse_bands(calendar, CronExpression::parse(cron), window, noon, limit);
  };
  const auto one = [](Instant pulse) { return PulseBand{pulse, pulse, 1}; };
  // One at this very instant is past, and one at the end is not in the window.
  EXPECT_THAT(bands("0 * * * *", {.from = noon - 3h, .until = noon + 3h}),
              ElementsAre(one(noon + 1h), one(noon + 2h)));
  EXPECT_THAT(bands("0 * * * *", {.from = noon + 1h, .until = noon + 2h + 1ms}),
              ElementsAre(one(noon + 1h), one(noon + 2h)));
  EXPECT_THAT(bands("0 * * * *", {.from = noon - 3h, .until = noon}), IsEmpty());
  EXPECT_THAT(bands("0 * * * *", {.from = noon, .until = noon + 9h, .step = 1h}, 2),
              ElementsAre(one(noon + 1h), one(noon + 2h)));
  EXPECT_THAT(bands("0 * * * *", {.from = noon, .until = noon + 9h, .step = 1h + 1ms}),
              ElementsAre(PulseBand{noon + 1h, noon + 8h, 8}));
  EXPECT_THAT(bands("0,1,2 0-23 * * *", {.from = noon, .until = noon + 2h, .step = 2min}),
              ElementsAre(PulseBand{noon + 1min, noon + 2min, 2},
                          PulseBand{noon + 1h, noon + 1h + 2min, 3}));
  EXPECT_THAT(bands("0 0 30 2 *", {.from = noon, .until = noon + 960h, .step = 1h}), IsEmpty());
}

// A task of every minute has 57,600 pulses in 40 days.
TEST(Timeline, shows_dense_pulses_as_one) {
  const TimelineWindow window{.from = noon, .until = noon + 960h, .step = 1h};
  EXPECT_THAT(
      pulse_bands(Calendar{Zone::utc()}, CronExpression::parse("* * * * *"), window, noon, 5000),
      ElementsAre(PulseBand{noon + 1min, noon + 960h - 1min, 960 * 60 - 1}));
}

// The slow twin walks from pulse to pulse.
RC_GTEST_PROP(Timeline, shows_pulses_as_its_slow_twin, ()) {
  const Calendar calendar{
      Zone::load(*rc::gen::element("UTC", "America/New_York", "Australia/Lord_Howe")),
      *rc::gen::element(RepeatedMinutes::both, RepeatedMinutes::first_only)};
  const CronExpression cron = CronExpression::parse(*rc::gen::element("* * * * *",
                                                                      "0,1,2,30 * * * *",
                                                                      "15,45 1-3 * * *",
                                                                      "30 2 * * 0",
                                                                      "0-10 0,12 1,15 * *",
                                                                      "59 23 31 12 *"));
  const Instant change =
      at(*rc::gen::element("2025-03-09T07:00:00Z", "2025-11-02T06:00:00Z", "2025-04-05T15:00:00Z"));
  const auto minutes = [](int low, int high) {
    return Duration{std::chrono::minutes{*rc::gen::inRange(low, high)}};
  };
  TimelineWindow window{.from = change + minutes(-1500, 1500)};
  window.until = window.from + minutes(1, 3000);
  window.step = minutes(0, 200) + Duration{*rc::gen::inRange(0, 2)};
  const Instant now = window.from + minutes(-1500, 1500);

  std::vector<PulseBand> bands;
  for (Instant pulse = now;;) {
    pulse = calendar.next(cron, pulse);
    if (pulse >= window.until) break;
    if (pulse < window.from) continue;
    if (!bands.empty() && pulse - bands.back().until < window.step) {
      bands.back().until = pulse;
      ++bands.back().count;
    } else {
      bands.push_back({pulse, pulse, 1});
    }
  }
  RC_ASSERT(pulse_bands(calendar, cron, window, now, 10'000) == bands);
}

TEST(Timeline, shows_when_no_daemon_ran) {
  const TimelineWindow window{.from = noon - 24h, .until = noon + 24h};
  EXPECT_THAT(downtimes({}, window, noon), IsEmpty());
  // Before the first one, nothing is known.
  EXPECT_THAT(downtimes({{noon - 2h, noon}}, window, noon), IsEmpty());
  EXPECT_THAT(
      downtimes(
          {{noon - 30h, noon - 20h}, {noon - 19h, noon - 2h}, {noon - 1h, noon}}, window, noon),
      ElementsAre(TimeStretch{noon - 20h, noon - 19h}, TimeStretch{noon - 2h, noon - 1h}));
  EXPECT_THAT(downtimes({{noon - 30h, noon - 28h}}, window, noon),
              ElementsAre(TimeStretch{noon - 24h, noon}));
  // The clock was set back: they overlap, and some are in the future.
  EXPECT_THAT(
      downtimes({{noon - 3h, noon - 1h}, {noon - 2h, noon}, {noon + 1h, noon + 2h}}, window, noon),
      IsEmpty());
  // The window ends before now, and begins after it.
  EXPECT_THAT(downtimes({{noon - 30h, noon - 28h}, {noon - 1h, noon}},
                        {.from = noon - 26h, .until = noon - 25h},
                        noon),
              ElementsAre(TimeStretch{noon - 26h, noon - 25h}));
  EXPECT_THAT(downtimes({{noon - 30h, noon - 28h}}, {.from = noon + 1h, .until = noon + 2h}, noon),
              IsEmpty());
}

}  // namespace
}  // namespace dutiful
