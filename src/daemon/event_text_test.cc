#include "daemon/event_text.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

std::string said(std::string_view name, std::vector<EventField> fields, const Zone& zone) {
  const Event event{.name = name,
                    .level = Level::info,
                    .at = at("2025-07-01T10:00:00Z"),
                    .fields = std::move(fields)};
  return to_text(event, zone, Colour::none);
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// Every match of the first group of the pattern.
std::set<std::string> find_all(const std::string& text, const char* pattern) {
  const std::regex expression{pattern};
  std::set<std::string> found;
  for (std::sregex_iterator match{text.begin(), text.end(), expression}, end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

const std::filesystem::path source = std::filesystem::path{DUTIFUL_TEST_DATA} / "../..";

// The names of the events that the source tells: the first argument of every call of a `tell`.
std::set<std::string> names_in_source() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{source / "src"}) {
    const std::string file = entry.path().filename().string();
    if (!entry.is_regular_file() || file.find("_test") != std::string::npos) continue;
    const std::string text = contents(entry.path());
    for (const std::string& call : find_all(text, R"(\btell\(([^,;]*"[^,;]*),\s*Level::)"))
      names.merge(find_all(call, R"re("([A-Za-z]+)")re"));
    names.merge(find_all(text, R"re(\.name = "([A-Za-z]+)",\s*\.level)re"));
  }
  return names;
}

// RULES V: what is told is documented, and what is documented is told.
TEST(Events, are_documented_by_name) {
  std::set<std::string> documented;
  for (const std::string& names :
       find_all(contents(source / "docs/events.md"), "\n\\| (`[^|]*) \\| [A-Z]+ \\|"))
    documented.merge(find_all(names, "`([A-Za-z]+)`"));
  EXPECT_EQ(names_in_source(), documented);
}

TEST(EventText, is_in_words_for_every_event_that_there_is) {
  const auto names = names_in_source();
  ASSERT_THAT(names, testing::IsSupersetOf({"TaskRunStarted", "TaskFileLoaded", "PollingStopped"}));
  for (const std::string& name : names) {
    const std::string text = said(name,
                                  {{"taskName", std::string{"a"}},
                                   {"error", std::string{"it broke"}},
                                   {"reason", std::string{"it did"}}},
                                  Zone::utc());
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(name)));
    EXPECT_GT(text.size(), std::string_view{"2025-07-01 10:00:00  a  "}.size()) << name;
  }
}

TEST(EventText, tells_why_tasks_cannot_be_loaded) {
  EXPECT_EQ(
      said("SchedulerInitializationFailed", {{"error", std::string{"\"a\\\\b\"\n"}}}, Zone::utc()),
      "2025-07-01 10:00:00  dutiful  the tasks cannot be loaded: \"a\\\\b\"\\n");
}

TEST(EventText, tells_what_a_reload_has_changed) {
  const EventField task{"taskName", std::string{"a"}};
  EXPECT_EQ(said("TaskChanged", {task, {"changeType", std::string{"run,user"}}}, Zone::utc()),
            "2025-07-01 10:00:00  a  changed: run, user");
  EXPECT_EQ(said("TaskChanged",
                 {task,
                  {"changeType", std::string{"run,timeout"}},
                  {"oldTimeoutMs", std::int64_t{0}},
                  {"newTimeoutMs", std::int64_t{90'000}}},
                 Zone::utc()),
            "2025-07-01 10:00:00  a  changed: run, timeout (1 min 30 s instead of none)");
}

TEST(EventText, tells_where_in_the_file_a_warning_belongs) {
  const EventField file{"file", std::string{"tasks.toml"}};
  const EventField warning{"warning", std::string{"task \"a\" is never due"}};
  EXPECT_EQ(said("TaskFileWarning",
                 {file, {"line", std::int64_t{4}}, {"column", std::int64_t{1}}, warning},
                 Zone::utc()),
            "2025-07-01 10:00:00  dutiful  tasks.toml:4:1: warning: task \"a\" is never due");
  EXPECT_EQ(said("TaskFileWarning", {file, warning}, Zone::utc()),
            "2025-07-01 10:00:00  dutiful  tasks.toml: warning: task \"a\" is never due");
}

TEST(EventText, is_in_local_time_and_gives_the_date_only_where_it_is_another) {
  const Zone berlin = Zone::load("Europe/Berlin");
  const EventField task{"taskName", std::string{"a"}};
  EXPECT_EQ(said("TaskRunFailed",
                 {task,
                  {"duration", std::int64_t{1234}},
                  {"error", std::string{"exit status 1"}},
                  {"nextRetryAt", std::string{"2025-07-01T10:05:00.000Z"}}},
                 berlin),
            "2025-07-01 12:00:00  a  failed after 1.2 s: exit status 1; retry at 12:05:00");
  EXPECT_EQ(said("TaskRunStarted",
                 {task,
                  {"scheduledTime", std::string{"2025-06-30T22:00:00.000Z"}},
                  {"missedCount", std::int64_t{3}}},
                 berlin),
            "2025-07-01 12:00:00  a  started, due 00:00:00, in place of 3 more that were missed");
  EXPECT_EQ(said("TaskRunStarted",
                 {task, {"scheduledTime", std::string{"2025-06-30T21:59:00.000Z"}}},
                 berlin),
            "2025-07-01 12:00:00  a  started, due 2025-06-30 23:59:00");
}

TEST(EventText, carries_the_offset_of_an_hour_that_the_clocks_show_twice) {
  EXPECT_EQ(to_text({.name = "TaskRunStarted",
                     .level = Level::info,
                     .at = at("2025-10-26T01:00:01Z"),
                     .fields = {{"taskName", std::string{"a"}},
                                {"scheduledTime", std::string{"2025-10-26T00:59:00.000Z"}}}},
                    Zone::load("Europe/Berlin"),
                    Colour::none),
            "2025-10-26 02:00:01 +01:00  a  started, due 02:59:00 +02:00");
}

TEST(EventText, tells_which_run_was_interrupted) {
  EXPECT_EQ(
      said("TaskOrphaned",
           {{"taskName", std::string{"a"}},
            {"lastExecutionTime", std::string{"2025-07-01T03:15:02.000Z"}}},
           Zone::utc()),
      "2025-07-01 10:00:00  a  its run of 03:15:02 has no recorded result; starting it again");
}

TEST(EventText, tells_who_was_refused_what) {
  EXPECT_EQ(said("AccessRefused",
                 {{"what", std::string{"/srv/jobs.db"}},
                  {"reason", std::string{"the state is in use"}},
                  {"who", std::string{"process 7"}}},
                 Zone::utc()),
            "2025-07-01 10:00:00  dutiful  access to /srv/jobs.db refused: the state is in use "
            "(process 7)");
}

TEST(EventText, tells_how_many_runs_the_history_lacks) {
  EXPECT_EQ(said("HistoryFailed",
                 {{"error", std::string{"the disk is full"}},
                  {"waiting", std::int64_t{14}},
                  {"lost", std::int64_t{1}},
                  {"nextTryAt", std::string{"2025-07-01T10:00:30.000Z"}}},
                 Zone::utc()),
            "2025-07-01 10:00:00  dutiful  the disk is full; 1 run is missing from it; 14 runs are "
            "kept in memory; next try at 10:00:30");
  EXPECT_EQ(said("HistoryRecovered",
                 {{"written", std::int64_t{14}}, {"lost", std::int64_t{0}}},
                 Zone::utc()),
            "2025-07-01 10:00:00  dutiful  the history can be written again: 14 runs were written");
}

TEST(EventText, tells_where_a_damaged_trace_is) {
  EXPECT_EQ(said("TraceSetAside",
                 {{"file", std::string{"/srv/a.jsonl.damaged-1"}},
                  {"error", std::string{"The trace \"a.jsonl\" is malformed at line 3: bad JSON"}}},
                 Zone::utc()),
            "2025-07-01 10:00:00  dutiful  The trace \"a.jsonl\" is malformed at line 3: bad JSON; "
            "renamed to /srv/a.jsonl.damaged-1; a new one begins");
}

TEST(EventText, leaves_a_message_as_it_was_quoted) {
  EXPECT_EQ(
      said("TaskFileRejected", {{"error", std::string{"saw '\\n' in \"a\\\\b\"\n"}}}, Zone::utc()),
      "2025-07-01 10:00:00  dutiful  saw '\\n' in \"a\\\\b\"\\n");
}

TEST(EventText, cannot_be_forged_by_a_name) {
  EXPECT_EQ(said("TaskRemoved", {{"taskName", std::string{"a\n2025 b\x1b[1m"}}}, Zone::utc()),
            "2025-07-01 10:00:00  a\\n2025 b\\x1b[1m  removed");
}

TEST(EventText, of_an_unknown_event_is_its_name_and_texts) {
  EXPECT_EQ(said("SomethingNew", {{"why", std::string{"because"}}}, Zone::utc()),
            "2025-07-01 10:00:00  dutiful  SomethingNew why=because");
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
