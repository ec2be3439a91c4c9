#include <optional>

#include <gtest/gtest.h>

#include <dutiful/testing.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

TEST(VirtualTime, runs_a_year_at_once) {
  VirtualScheduler scheduler{at("2025-01-01T00:00:30Z"), {.zone = Zone::load("Europe/Berlin")}};
  int mondays = 0;
  int nights = 0;
  scheduler.initialize({{"report", "0 8 * * 1", [&] { ++mondays; }, 5min},
                        {"night", "30 2 * * *", [&] { ++nights; }, 5min}});
  scheduler.advance(days{365});
  EXPECT_EQ(mondays, 52);
  EXPECT_EQ(nights, 365);  // one night has no 02:30, and one has two
  EXPECT_EQ(scheduler.now(), at("2026-01-01T00:00:30Z"));
}

TEST(VirtualTime, retries_to_the_millisecond) {
  VirtualScheduler scheduler{at("2025-01-01T00:00:00Z"), {.zone = Zone::utc()}};
  std::vector<Instant> starts;
  scheduler.initialize({{"a",
                         "0 0 * * *",
                         [&](const RunInfo& run) {
                           starts.push_back(run.started);
                           if (starts.size() < 3) throw std::runtime_error("not yet");
                         },
                         1500ms}});
  scheduler.advance(1h);
  const Instant first = at("2025-01-01T00:00:00Z");
  EXPECT_EQ(starts, (std::vector<Instant>{first, first + 1500ms, first + 3000ms}));
}

TEST(VirtualTime, lets_a_callback_keep_its_run) {
  VirtualScheduler scheduler{at("2025-01-01T00:00:00Z"), {.zone = Zone::utc()}};
  std::vector<dutiful::Run> kept;
  scheduler.initialize(
      {{"a", "0 * * * *", [&](dutiful::Run run) { kept.push_back(std::move(run)); }, 1min}});
  scheduler.advance(5h);
  ASSERT_EQ(kept.size(), 1);  // K1: a task never runs twice at the same time
  EXPECT_THROW(scheduler.stop(), StopSchedulerError);
  kept[0].succeed();
  scheduler.advance(0ms);
  ASSERT_EQ(kept.size(), 2);  // K3: one more run, at once, for all missed pulses
  kept[1].succeed();
  scheduler.stop();
}

// P2, P8
TEST(VirtualTime, restarts_what_a_crash_interrupted) {
  VirtualScheduler scheduler{at("2025-01-01T00:00:00Z"), {.zone = Zone::utc()}};
  std::vector<dutiful::Run> kept;
  const std::vector<Registration> list{
      {"a", "0 * * * *", [&](dutiful::Run run) { kept.push_back(std::move(run)); }, 1min}};
  scheduler.initialize(list);
  scheduler.advance(10min);
  scheduler.crash();
  kept.clear();
  scheduler.advance(5min);
  scheduler.initialize(list);
  ASSERT_EQ(kept.size(), 1);
  EXPECT_EQ(kept[0].info().reason, Reason::orphan);
  EXPECT_EQ(kept[0].info().pulse, at("2025-01-01T00:00:00Z"));
  EXPECT_EQ(kept[0].info().attempt, 2);
}

// V: for each reason, a callback and the event TaskRunStarted name the same instant.
TEST(VirtualTime, says_when_each_attempt_was_due) {
  std::vector<Instant> reported;
  const auto report = [&](const Event& event) {
    if (event.name != "TaskRunStarted") return;
    for (const EventField& field : event.fields) {
      if (field.name == "scheduledTime") reported.push_back(at(std::get<std::string>(field.value)));
    }
  };
  VirtualScheduler scheduler{at("2025-01-01T00:00:30Z"), {.zone = Zone::utc(), .events = report}};
  std::vector<std::pair<Reason, Instant>> received;
  std::vector<dutiful::Run> kept;
  const auto callback = [&](dutiful::Run run) {
    received.emplace_back(run.info().reason, run.info().scheduled);
    switch (received.size()) {
      case 1:
        return run.succeed();
      case 2:
        return run.fail("retry it");
      default:
        kept.push_back(std::move(run));
    }
  };
  const std::vector<Registration> list{{"a", "0 * * * *", callback, 5min}};

  scheduler.initialize(list);
  scheduler.advance(1h + 10min);
  scheduler.crash();
  kept.clear();
  scheduler.advance(5min);
  scheduler.initialize(list);

  const Instant boot = at("2025-01-01T00:00:00Z");
  const Instant cron = at("2025-01-01T01:00:00Z");
  const Instant retry = cron + 5min;
  EXPECT_EQ(received,
            (std::vector<std::pair<Reason, Instant>>{{Reason::boot, boot},
                                                     {Reason::cron, cron},
                                                     {Reason::retry, retry},
                                                     {Reason::orphan, cron}}));
  EXPECT_EQ(reported, (std::vector<Instant>{boot, cron, retry, cron}));
}

// Code from before `scheduled` existed still compiles and means the same.
TEST(VirtualTime, takes_a_run_to_be_due_at_its_pulse) {
  const Instant pulse = at("2025-01-01T00:00:00Z");
  const RunInfo info{.task = "a",
                     .reason = Reason::cron,
                     .pulse = pulse,
                     .attempt = 1,
                     .fence = 7,
                     .started = pulse + 3ms};
  EXPECT_EQ(info.scheduled, pulse);
}

// K7: each way to fail has its own reason.
TEST(VirtualTime, says_why_a_run_failed) {
  std::vector<std::string> errors;
  const auto note = [&](const Event& event) {
    if (event.name != "TaskRunFailed") return;
    for (const EventField& field : event.fields) {
      if (field.name == "error") errors.push_back(std::get<std::string>(field.value));
    }
  };
  VirtualScheduler scheduler{at("2025-01-01T00:00:00Z"), {.zone = Zone::utc(), .events = note}};
  std::optional<dutiful::Run> kept;
  int runs = 0;
  scheduler.initialize({{"synchronous", "0 0 * * *", [] { throw std::runtime_error("sync"); }, 1h},
                        {"asynchronous",
                         "0 0 * * *",
                         [&](dutiful::Run run) {
                           switch (++runs) {
                             case 1:
                               throw std::runtime_error("async");
                             case 2:
                               throw 42;
                             case 3: {
                               const dutiful::Run dropped = std::move(run);
                               return;
                             }
                             case 4:
                               run.fail("first");
                               throw std::runtime_error("too late");
                             case 5:
                               // Another owner has the run when this one throws, and settles it.
                               kept = std::move(run);
                               throw std::runtime_error("not mine any more");
                             case 6:
                               try {
                                 const dutiful::Run dropped = std::move(run);
                                 throw std::runtime_error("caught");
                               } catch (const std::runtime_error&) {
                                 return;
                               }
                             default:
                               run.succeed();
                           }
                         },
                         1min}});
  scheduler.advance(30min);
  EXPECT_EQ(errors,
            (std::vector<std::string>{"async",
                                      "sync",
                                      "it threw something that is not an exception",
                                      "the Run was destroyed before it was settled",
                                      "first"}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(runs, 5);
  kept.reset();
  errors.clear();
  scheduler.advance(29min);
  EXPECT_EQ(errors,
            (std::vector<std::string>{"the Run was destroyed before it was settled",
                                      "the Run was destroyed before it was settled"}));
  EXPECT_EQ(runs, 7);
}

TEST(VirtualTime, reports_that_time_stands_still) {
  VirtualScheduler scheduler{at("2025-01-01T00:00:00Z"), {.zone = Zone::utc()}};
  EXPECT_THROW(scheduler.initialize({{"a", "0 0 * * *", [] { throw 1; }, 0ms}}),
               std::runtime_error);
}

// I4: the due tasks of the previous list run, whatever the first of them does.
TEST(VirtualTime, lets_a_callback_replace_the_list_or_end_the_process) {
  VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"),
                             {.reinitialize = Reinitialize::reconcile, .zone = Zone::utc()}};
  std::string ran;
  const auto note = [&](const RunInfo& run) { ran += run.task; };
  scheduler.initialize({{"a",
                         "0 * * * *",
                         [&] {
                           ran += 'a';
                           if (ran == "a") scheduler.initialize({{"c", "* * * * *", note, 1min}});
                         },
                         1min},
                        {"b", "0 * * * *", note, 1min}});
  EXPECT_EQ(ran, "acb");
  scheduler.advance(1min);
  EXPECT_EQ(ran, "acbc");

  scheduler.initialize({{"d",
                         "* * * * *",
                         [&] {
                           ran += 'd';
                           scheduler.crash();
                         },
                         1min},
                        {"e", "* * * * *", note, 1min}});
  EXPECT_EQ(ran, "acbcd");
  EXPECT_NO_THROW(scheduler.advance(1h));
}

// X2
TEST(VirtualTime, asks_a_run_to_end_at_its_time_limit) {
  std::vector<std::string> events;
  Options options{.zone = Zone::utc()};
  options.events = [&](const Event& event) {
    if (event.name == "TaskRunFailed") events.push_back(to_json(event));
  };
  VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"), options};
  std::optional<dutiful::Run> kept;
  Instant asked{};
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  scheduler.initialize({{.name = "a",
                         .cron = "0 * * * *",
                         .callback =
                             [&](dutiful::Run run) {
                               on_stop.emplace(run.info().stop, [&] {
                                 asked = scheduler.now();
                                 EXPECT_EQ(kept->info().stop_reason(), StopReason::time_limit);
                                 kept->succeed();
                               });
                               kept = std::move(run);
                             },
                         .retry_delay = 24h,
                         .time_limit = 90s}});
  scheduler.advance(10min);
  EXPECT_EQ(asked, at("2025-03-03T10:01:30Z"));
  ASSERT_EQ(events.size(), 1U);  // although it reports success
  EXPECT_NE(events[0].find("\"duration\":90000"), std::string::npos) << events[0];
  EXPECT_NE(events[0].find("time limit exceeded"), std::string::npos) << events[0];
}

// E: that is an error, and the scheduler can be stopped.
TEST(VirtualTime, does_not_stand_still_forever) {
  VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"), {.zone = Zone::utc()}};
  try {
    scheduler.initialize(
        {{"a", "0 * * * *", [] { throw 1; }, 0ms}, {"b", "0 * * * *", [] {}, 0ms}});
    FAIL();
  } catch (const VirtualTimeError& error) {
    EXPECT_EQ(error.task_name(), "a");
  }
  EXPECT_THROW(scheduler.advance(1h), Error);
  scheduler.stop();
  EXPECT_EQ(scheduler.status().lifecycle, SchedulerStatus::Lifecycle::uninitialized);
}

// I5
TEST(VirtualTime, asks_runs_to_end_when_it_stops) {
  VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"), {.zone = Zone::utc()}};
  std::optional<dutiful::Run> kept;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  const auto keep = [&](dutiful::Run run) { kept = std::move(run); };
  scheduler.initialize({{"a", "0 * * * *", keep, 1min}});
  EXPECT_THROW(scheduler.stop(), StopSchedulerError);
  EXPECT_EQ(kept->info().stop_reason(), StopReason::stopping);
  kept->succeed();
  scheduler.stop();
}

}  // namespace
}  // namespace dutiful
