#include "daemon/event_text.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "daemon/output_lines.h"
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

TEST(EventText, tells_which_run_was_interrupted) {
  EXPECT_EQ(
      said("TaskOrphaned",
           {{"taskName", std::string{"a"}},
            {"lastExecutionTime", std::string{"2025-07-01T03:15:02.000Z"}}},
           Zone::utc()),
      "2025-07-01 10:00:00  a  no result was recorded of its run of 03:15:02, when the daemon "
      "ended; starts again");
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
}

TEST(OutputLines, come_whole_however_they_were_written) {
  std::vector<std::string> lines;
  OutputLines output{[&](const std::string& task, std::string_view line) {
    lines.push_back(task + ':' + std::string{line});
  }};
  output.add("a", "on");
  output.add("b", "other\n");
  output.add("a", "e\n\ntw");
  output.add("a", "o");
  output.finish("a");
  output.finish("a");
  EXPECT_EQ(lines, (std::vector<std::string>{"b:other", "a:one", "a:", "a:two"}));
}

TEST(OutputLines, are_cut_where_they_never_end) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  OutputLines output{[&](const std::string&, std::string_view line) {
    ++count;
    bytes += line.size();
    EXPECT_LE(line.size(), 4096U);
  }};
  for (int i = 0; i < 100; ++i) output.add("a", std::string(10'000, 'x'));
  output.finish("a");
  EXPECT_EQ(bytes, 1'000'000U);
  EXPECT_EQ(count, 245U);
}

}  // namespace
}  // namespace dutiful
