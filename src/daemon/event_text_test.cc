#include "daemon/event_text.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

std::string text_of(event::Any what, const Zone& zone = Zone::utc()) {
  return to_text({.at = at("2025-07-01T10:00:00Z"), .what = std::move(what)}, zone, Colour::none);
}

TEST(EventText, says_why_tasks_cannot_be_loaded) {
  EXPECT_EQ(text_of(event::SchedulerInitializationFailed{"\"a\\\\b\"\n"}),
            "2025-07-01 10:00:00  dutiful  cannot load the tasks: \"a\\\\b\"\\n");
}

TEST(EventText, lists_what_a_reload_has_changed) {
  EXPECT_EQ(text_of(event::TaskChanged{.task = "a", .keys = "run,user"}),
            "2025-07-01 10:00:00  a  changed: run, user");
  EXPECT_EQ(text_of(event::TaskChanged{
                .task = "a", .keys = "run,timeout", .timeouts = {{.before = 0s, .after = 90s}}}),
            "2025-07-01 10:00:00  a  changed: run, timeout (1 min 30 s instead of none)");
}

TEST(EventText, shows_old_and_new_settings_of_a_task) {
  EXPECT_EQ(text_of(event::TaskOverridden{.task = "a",
                                          .before = {.cron = "0 * * * *", .retry_delay = 1min},
                                          .after = {.cron = "5 * * * *", .retry_delay = 90s}}),
            "2025-07-01 10:00:00  a  changed: cron (5 * * * * instead of 0 * * * *), "
            "retry (1 min 30 s instead of 1 min)");
}

TEST(EventText, says_what_became_of_notifications) {
  EXPECT_EQ(text_of(event::NotificationFailed{
                .task = "a\n", .notification = "on_failure", .error = "exit status 1: \\x1b"}),
            "2025-07-01 10:00:00  a\\n  on_failure failed: exit status 1: \\x1b");
  EXPECT_EQ(text_of(event::NotificationsDropped{1}),
            "2025-07-01 10:00:00  dutiful  1 notification dropped: too many were waiting, or the "
            "daemon stopped");
  EXPECT_EQ(text_of(event::FailureCountsFailed{.error = "the disk is full",
                                               .next_try = at("2025-07-01T10:00:30Z")}),
            "2025-07-01 10:00:00  dutiful  cannot keep the failures in a row: the disk is full; "
            "next try at 10:00:30");
}

TEST(EventText, names_the_place_of_a_warning) {
  event::TaskFileWarning warning{.file = "tasks.toml", .warning = "task \"a\" is never due"};
  EXPECT_EQ(text_of(warning),
            "2025-07-01 10:00:00  dutiful  tasks.toml: warning: task \"a\" is never due");
  warning.line = 4;
  warning.column = 1;
  EXPECT_EQ(text_of(warning),
            "2025-07-01 10:00:00  dutiful  tasks.toml:4:1: warning: task \"a\" is never due");
}

TEST(EventText, is_in_local_time_and_shows_a_date_only_if_it_differs) {
  const Zone berlin = Zone::load("Europe/Berlin");
  EXPECT_EQ(text_of(event::TaskRunFailed{.task = "a",
                                         .duration = 1234ms,
                                         .error = "exit status 1",
                                         .next_retry = at("2025-07-01T10:05:00Z")},
                    berlin),
            "2025-07-01 12:00:00  a  failed after 1.2 s: exit status 1; retry at 12:05:00");
  event::TaskRunStarted started{
      .task = "a", .scheduled = at("2025-06-30T22:00:00Z"), .actual = {}, .missed = 3};
  EXPECT_EQ(text_of(started, berlin),
            "2025-07-01 12:00:00  a  started, due 00:00:00; also covers 3 missed runs");
  started.missed = 7;
  started.served = {.run = 1, .running = 5, .down = 2};
  EXPECT_EQ(text_of(started, berlin),
            "2025-07-01 12:00:00  a  started, due 00:00:00; also covers 7 missed runs (5 while it "
            "was running, 2 while no daemon ran)");
  started.served = {};
  started.scheduled = at("2025-06-30T21:59:00Z");
  started.missed = 0;
  EXPECT_EQ(text_of(started, berlin), "2025-07-01 12:00:00  a  started, due 2025-06-30 23:59:00");
}

TEST(EventText, names_the_attempt_and_the_process_of_a_run) {
  event::TaskRunFailed failed{.task = "a", .duration = 2s, .error = "exit status 3"};
  EXPECT_EQ(text_of(failed), "2025-07-01 10:00:00  a  failed after 2.0 s: exit status 3");
  failed.process = 4711;
  EXPECT_EQ(text_of(failed),
            "2025-07-01 10:00:00  a  failed after 2.0 s: exit status 3 (process 4711)");
  failed.attempt = 2;
  EXPECT_EQ(text_of(failed),
            "2025-07-01 10:00:00  a  failed after 2.0 s: exit status 3 (attempt 2, process 4711)");
  failed.process.reset();
  EXPECT_EQ(text_of(failed),
            "2025-07-01 10:00:00  a  failed after 2.0 s: exit status 3 (attempt 2)");
  EXPECT_EQ(text_of(event::TaskRunStarted{.task = "a",
                                          .scheduled = at("2025-07-01T10:00:00Z"),
                                          .actual = {},
                                          .reason = Reason::retry,
                                          .attempt = 2}),
            "2025-07-01 10:00:00  a  started, due 10:00:00 (attempt 2)");
}

TEST(EventText, shows_the_offset_of_a_repeated_hour) {
  const TypedEvent event{.at = at("2025-10-26T01:00:01Z"),
                         .what = event::TaskRunStarted{
                             .task = "a", .scheduled = at("2025-10-26T00:59:00Z"), .actual = {}}};
  EXPECT_EQ(to_text(event, Zone::load("Europe/Berlin"), Colour::none),
            "2025-10-26 02:00:01 +01:00  a  started, due 02:59:00 +02:00");
}

TEST(EventText, names_the_run_that_was_interrupted) {
  EXPECT_EQ(text_of(event::TaskOrphaned{
                .task = "a", .last_execution = at("2025-07-01T03:15:02Z"), .scheduler = "x"}),
            "2025-07-01 10:00:00  a  the run started at 03:15:02 was interrupted and is restarted");
}

TEST(EventText, says_who_was_refused_what) {
  EXPECT_EQ(text_of(event::AccessRefused{
                .what = "/srv/jobs.db", .reason = "the state is in use", .who = "process 7"}),
            "2025-07-01 10:00:00  dutiful  access to /srv/jobs.db refused: the state is in use "
            "(process 7)");
}

TEST(EventText, counts_the_runs_missing_from_the_history) {
  EXPECT_EQ(text_of(event::HistoryFailed{.error = "the disk is full",
                                         .waiting = 14,
                                         .lost = 1,
                                         .next_try = at("2025-07-01T10:00:30Z")}),
            "2025-07-01 10:00:00  dutiful  the disk is full; 1 run lost; 14 runs are kept in "
            "memory; next try at 10:00:30");
  EXPECT_EQ(text_of(event::HistoryRecovered{.written = 14, .lost = 0}),
            "2025-07-01 10:00:00  dutiful  the history is writable again: 14 runs written");
}

TEST(EventText, says_where_a_damaged_trace_is) {
  EXPECT_EQ(text_of(event::TraceSetAside{
                .file = "/srv/a.jsonl.damaged-1",
                .error = "The trace \"a.jsonl\" is malformed at line 3: bad JSON"}),
            "2025-07-01 10:00:00  dutiful  The trace \"a.jsonl\" is malformed at line 3: bad JSON; "
            "renamed to /srv/a.jsonl.damaged-1, and a new trace was started");
}

TEST(EventText, does_not_quote_a_message_twice) {
  EXPECT_EQ(text_of(event::TaskFileRejected{"saw '\\n' in \"a\\\\b\"\n"}),
            "2025-07-01 10:00:00  dutiful  saw '\\n' in \"a\\\\b\"\\n");
}

TEST(EventText, cannot_be_forged_by_a_name) {
  EXPECT_EQ(text_of(event::TaskRemoved{.task = "a\n2025 b\x1b[1m"}),
            "2025-07-01 10:00:00  a\\n2025 b\\x1b[1m  removed");
}

TEST(DurationText, has_two_units_at_most) {
  EXPECT_EQ(duration_text(0ms), "0 ms");
  EXPECT_EQ(duration_text(999ms), "999 ms");
  EXPECT_EQ(duration_text(59'999ms), "59.9 s");
  EXPECT_EQ(duration_text(200s), "3 min 20 s");
  EXPECT_EQ(duration_text(2h), "2 h");
  EXPECT_EQ(duration_text(26h + 5min), "1 d 2 h");
  EXPECT_EQ(duration_text(-1500ms), "-1.5 s");
  EXPECT_EQ(duration_text(Duration::min()), "-106751991167 d 7 h");
}

}  // namespace
}  // namespace dutiful
