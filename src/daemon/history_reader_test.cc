#include "daemon/history_reader.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/history.h"
#include "daemon/history_rows.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class Runs : public testing::Test {
 protected:
  // Its end is `minute` minutes after the hour; it ran for 30 s.
  HistoryEntry run(const std::string& task, int minute) const {
    HistoryEntry made;
    made.result.run.task = task;
    made.result.run.attempt = 1;
    made.result.run.started = hour + std::chrono::minutes{minute} - 30s;
    made.result.duration = 30s;
    made.result.exit_status = 0;
    return made;
  }
  HistoryEntry failed(const std::string& task, int minute) const {
    HistoryEntry made = run(task, minute);
    made.result.exit_status = 3;
    made.result.process = 4711;
    made.result.output = "oops\n";
    return made;
  }
  HistoryEntry interrupted(const std::string& task, int minute) const {
    HistoryEntry made = run(task, minute);
    made.result.exit_status.reset();
    made.result.duration = {};
    made.end = HistoryEntry::End::interrupted;
    return made;
  }
  void write(const std::vector<HistoryEntry>& entries) const {
    HistoryWriter writer{{.state = state}};
    for (const HistoryEntry& entry : entries) writer.add(entry);
  }
  // The ids of all pages, with a bar between two pages.
  [[nodiscard]] std::string pages(RunQuery query) const {
    std::string text;
    while (true) {
      const RunPage page = read_runs(state, query);
      EXPECT_LE(page.runs.size(), query.limit);
      for (const HistoryEntry& entry : page.runs) text += std::to_string(entry.id) + ' ';
      if (!page.next) return text;
      query.before = page.next;
      text += "| ";
    }
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  Instant hour = at("2025-03-03T10:00:00Z");
};

TEST_F(Runs, are_read_in_pages_newest_first) {
  EXPECT_EQ(pages({}), "");
  write({run("a", 1), run("b", 2), run("a", 3), run("b", 4), run("a", 5)});
  EXPECT_EQ(pages({}), "5 4 3 2 1 ");
  EXPECT_EQ(pages({.limit = 2}), "5 4 | 3 2 | 1 ");
  EXPECT_EQ(pages({.limit = 5}), "5 4 3 2 1 ");
  EXPECT_EQ(pages({.task = "a", .limit = 2}), "5 3 | 1 ");
  EXPECT_EQ(pages({.task = "c"}), "");
  EXPECT_EQ(pages({.before = 3}), "2 1 ");
}

TEST_F(Runs, that_end_while_pages_are_read_move_no_run_to_another_page) {
  write({run("a", 1), run("a", 2), run("a", 3)});
  const RunPage first = read_runs(state, {.limit = 2});
  write({run("a", 4), run("a", 5)});
  const RunPage second = read_runs(state, {.limit = 2, .before = first.next});
  ASSERT_EQ(second.runs.size(), 1U);
  EXPECT_EQ(second.runs[0].id, 1);
  EXPECT_FALSE(second.next);
}

TEST_F(Runs, are_selected_by_their_result) {
  HistoryEntry late = run("a", 4);
  late.result.past_time_limit = true;
  HistoryEntry missing = run("b", 5);
  missing.result.exit_status.reset();
  missing.result.spawn_error = "no such program";
  write({run("a", 1), failed("a", 2), interrupted("b", 3), late, missing});
  EXPECT_EQ(pages({.result = RunResult::succeeded}), "1 ");
  EXPECT_EQ(pages({.result = RunResult::failed}), "5 4 2 ");
  EXPECT_EQ(pages({.result = RunResult::interrupted}), "3 ");
  EXPECT_EQ(pages({.unsuccessful = true, .limit = 3}), "5 4 3 | 2 ");
  EXPECT_EQ(pages({.task = "b", .unsuccessful = true}), "5 3 ");
}

TEST_F(Runs, are_selected_by_their_end) {
  // The third one was recorded after one that ended later.
  write({run("a", 1), run("b", 4), run("a", 3), failed("a", 5)});
  EXPECT_EQ(pages({.since = hour + 3min}), "4 3 2 ");
  EXPECT_EQ(pages({.since = hour + 3min + 1ms}), "4 2 ");
  EXPECT_EQ(pages({.task = "a", .since = hour + 3min}), "4 3 ");
  EXPECT_EQ(pages({.unsuccessful = true, .since = hour}), "4 ");
  EXPECT_EQ(pages({.since = hour + 6min}), "");
  EXPECT_EQ(pages({.since = hour, .limit = 3}), "4 3 2 | 1 ");
}

// More runs than a reader passes one by one.
TEST_F(Runs, that_ended_too_early_are_not_all_looked_at) {
  {
    HistoryWriter writer{{.state = state}};
    writer.add(run("a", 30));  // recorded first, though it ended last
    for (int i = 0; i < 2500; ++i) writer.add(run("b", 1));
    writer.add(run("c", 20));
  }
  EXPECT_EQ(pages({.since = hour + 10min}), "2502 1 ");
  EXPECT_EQ(pages({.since = hour + 10min, .limit = 1}), "2502 | 1 ");
  EXPECT_EQ(pages({.since = hour + 40min}), "");
  EXPECT_EQ(pages({.task = "b", .since = hour + 10min}), "");
  EXPECT_EQ(pages({.task = "a", .since = hour + 10min}), "1 ");
}

TEST_F(Runs, are_found_by_their_id_with_their_output) {
  EXPECT_FALSE(read_run(state, 1));
  write({run("a", 1), failed("b", 2)});
  const auto found = read_run(state, 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 2);
  EXPECT_EQ(found->result.run.task, "b");
  EXPECT_EQ(found->result.output, "oops\n");
  EXPECT_EQ(found->result.process, 4711);
  EXPECT_FALSE(read_run(state, 3));
  EXPECT_FALSE(read_run(state, 0));
  EXPECT_FALSE(read_run(state, -1));
}

TEST_F(Runs, are_read_without_their_output_but_with_their_error_if_asked) {
  HistoryEntry good = run("b", 1);
  good.result.output = "all is well\n";
  HistoryEntry bad = failed("b", 2);
  bad.result.output = std::string(8000, 'x') + "\noops\n";
  HistoryEntry silent = failed("b", 0);
  silent.result.output.clear();
  write({silent, good, bad});
  const auto found = read_runs(state, {.with_output = false}).runs;
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(error_of(found[2]), "exit status 3");
  EXPECT_EQ(error_of(found[0]), "exit status 3: oops");
  EXPECT_LE(found[0].result.output.size(), 4096);
  EXPECT_EQ(found[1].result.output, "");
}

TEST_F(Runs, are_read_while_they_are_written) {
  write({run("a", 1)});
  const HistoryReader reader{state};
  HistoryWriter writer{{.state = state}};
  for (int minute = 2; minute <= 20; ++minute) {
    writer.add(run("a", minute));
    while (reader.newest_id() < minute) std::this_thread::yield();
    EXPECT_EQ(reader.read({.limit = 1}).runs.at(0).id, minute);
    EXPECT_EQ(reader.read_after(minute - 1, 10).size(), 1U);
  }
  const auto after = reader.read_after(17, 2);
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0].id, 18);
  EXPECT_EQ(after[1].id, 19);
}

TEST_F(Runs, are_selected_by_the_end_before_which_they_ended) {
  // The third one was recorded after one that ended later.
  write({run("a", 1), run("b", 4), run("a", 3), failed("a", 5)});
  EXPECT_EQ(pages({.until = hour + 4min}), "3 1 ");
  EXPECT_EQ(pages({.until = hour + 4min + 1ms}), "3 2 1 ");
  EXPECT_EQ(pages({.until = hour + 4min + 1ms, .limit = 1}), "3 | 2 | 1 ");
  EXPECT_EQ(pages({.task = "a", .until = hour + 5min}), "3 1 ");
  EXPECT_EQ(pages({.since = hour + 3min, .until = hour + 4min}), "3 ");
  EXPECT_EQ(pages({.unsuccessful = true, .until = hour + 5min}), "");
  EXPECT_EQ(pages({.until = hour}), "");
}

TEST_F(Runs, that_ended_too_late_are_not_all_looked_at) {
  {
    HistoryWriter writer{{.state = state}};
    writer.add(run("a", 1));
    for (int i = 0; i < 2500; ++i) writer.add(run("b", 20));
    writer.add(run("c", 2));  // recorded after those that ended later
    for (int i = 0; i < 2500; ++i) writer.add(run("b", 20));
  }
  EXPECT_EQ(pages({.until = hour + 10min}), "2502 1 ");
  EXPECT_EQ(pages({.until = hour + 10min, .limit = 1}), "2502 | 1 ");
  EXPECT_EQ(pages({.since = hour + 2min, .until = hour + 10min}), "2502 ");
  EXPECT_EQ(pages({.until = hour}), "");
  EXPECT_EQ(pages({.task = "b", .until = hour + 10min}), "");
  EXPECT_EQ(pages({.task = "a", .until = hour + 10min}), "1 ");
  EXPECT_EQ(pages({.until = hour + 10min, .search = "C"}), "2502 ");
}

TEST_F(Runs, are_selected_by_a_part_of_their_names) {
  write({run("Backup", 1),
         run("mail", 2),
         failed("nightly BACKUP", 3),
         run("Backup", 4),
         interrupted("back", 5)});
  EXPECT_EQ(pages({.search = "backup"}), "4 3 1 ");
  EXPECT_EQ(pages({.search = "backup", .limit = 1}), "4 | 3 | 1 ");
  EXPECT_EQ(pages({.search = "BACK", .limit = 3}), "5 4 3 | 1 ");
  EXPECT_EQ(pages({.unsuccessful = true, .search = "back"}), "5 3 ");
  EXPECT_EQ(pages({.result = RunResult::succeeded, .search = "back"}), "4 1 ");
  EXPECT_EQ(pages({.task = "Backup", .search = "b"}), "4 1 ");
  EXPECT_EQ(pages({.task = "mail", .search = "b"}), "");
  EXPECT_EQ(pages({.since = hour + 3min, .until = hour + 4min, .search = "back"}), "3 ");
  EXPECT_EQ(pages({.search = "%"}), "");
  EXPECT_EQ(read_runs(state, {.search = "nightly"}).runs.at(0).result.output, "oops\n");
}

TEST_F(Runs, match_an_end_and_a_part_of_their_names) {
  EXPECT_TRUE(matches(run("Backup", 1), {.until = hour + 2min, .search = "back"}));
  EXPECT_FALSE(matches(run("Backup", 1), {.until = hour + 1min}));
  EXPECT_FALSE(matches(run("Backup", 1), {.search = "x"}));
  HistoryEntry unfinished = run("a", 1);
  unfinished.end = HistoryEntry::End::none;
  EXPECT_TRUE(matches(unfinished, {.since = hour + 2min}));
  EXPECT_FALSE(matches(unfinished, {.until = hour + 2min}));
}

TEST_F(Runs, are_read_as_spans_of_a_window) {
  using Result = RunSpan::Result;
  HistoryEntry spawn_error = failed("a", 5);
  spawn_error.result.exit_status.reset();
  spawn_error.result.spawn_error = "no such file";
  HistoryEntry late = run("a", 6);
  late.result.past_time_limit = true;
  write({run("a", 1), run("b", 2), failed("a", 3), interrupted("a", 4), spawn_error, late});
  const auto read = [&](Instant from, Instant until, std::size_t limit = 100) {
    return HistoryReader{state}.read_spans(
        {.tasks = {"b", "x", "a"}, .from = from, .until = until, .limit = limit});
  };
  const auto span = [&](int minute, Result result) {
    return RunSpan{hour + std::chrono::minutes{minute} - 30s,
                   hour + std::chrono::minutes{minute} - (result == Result::interrupted ? 30s : 0s),
                   result};
  };
  const auto all = read(hour, hour + 1h);
  ASSERT_EQ(all.size(), 3);
  EXPECT_THAT(all[0], ElementsAre(span(2, Result::succeeded)));
  EXPECT_THAT(all[1], ElementsAre());
  EXPECT_THAT(all[2],
              ElementsAre(span(1, Result::succeeded),
                          span(3, Result::failed),
                          span(4, Result::interrupted),
                          span(5, Result::failed),
                          span(6, Result::failed)));
  EXPECT_THAT(read(hour, hour + 1h, 2)[2],
              ElementsAre(span(5, Result::failed), span(6, Result::failed)));
  // A part of a run is enough.
  EXPECT_THAT(
      read(hour + 3min, hour + 5min - 29s)[2],
      ElementsAre(span(3, Result::failed), span(4, Result::interrupted), span(5, Result::failed)));
  EXPECT_THAT(read(hour + 3min + 1ms, hour + 5min - 30s)[2],
              ElementsAre(span(4, Result::interrupted)));
  EXPECT_THAT(read(hour + 7min, hour + 1h)[2], ElementsAre());
  EXPECT_THAT(read(hour - 1h, hour)[2], ElementsAre());
}

// X4: another program may have written anything.
TEST_F(Runs, are_rejected_as_spans_if_they_have_no_possible_duration) {
  for (const char* duration : {"-1", "9.5", "9000000000000000000"}) {
    std::filesystem::remove(history_of(state));
    {
      Database database{history_of(state)};
      database.migrate(history_format, 0);
      database.execute((std::string{"INSERT INTO run VALUES (1, 'a', 'cron', 0, 1, 0, 10, "} +
                        duration + ", 0, NULL, '', 0, 0, 0, 0, 0, x'', 0, NULL)")
                           .c_str());
    }
    const SpanQuery query{.tasks = {"a"}, .from = Instant{}, .until = hour};
    EXPECT_THROW((void)HistoryReader{state}.read_spans(query), HistoryError) << duration;
  }
}

TEST_F(Runs, are_read_as_spans_of_a_history_that_does_not_exist) {
  EXPECT_EQ(HistoryReader{state}.read_spans({.tasks = {"a", "b"}}).size(), 2);
}

// A history as an older version made it.
class OldHistory : public Runs {
 protected:
  explicit OldHistory(std::size_t version = 1) {
    Database database{history_of(state)};
    const std::span<const char* const> steps = history_format.steps.first(version);
    database.migrate({.mark = history_format.mark, .steps = steps, .foreign = "", .remedy = ""}, 0);
    database.execute(version == 1
                         ? "INSERT INTO run VALUES (1, 'a', 'cron', 0, 1, 0, 0, 5, 3, NULL,"
                           " '', 0, 0, 0, 0, 0, x'6f6f7073', 4)"
                         : "INSERT INTO run VALUES (1, 'a', 'cron', 0, 1, 0, 0, 5, 3, NULL,"
                           " '', 0, 0, 0, 0, 0, x'6f6f7073', 4, 815)");
  }
  [[nodiscard]] std::int64_t version() const {
    return Database{history_of(state), Database::Access::read_only}.integer("PRAGMA user_version");
  }
};

TEST_F(OldHistory, is_read_as_it_is) {
  EXPECT_EQ(pages({}), "1 ");
  EXPECT_EQ(pages({.task = "a", .unsuccessful = true, .since = at("1970-01-01T00:00:00Z")}), "1 ");
  const auto found = read_run(state, 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->result.output, "oops");
  EXPECT_FALSE(found->result.process);
  EXPECT_EQ(version(), 1);
}

TEST_F(OldHistory, is_migrated_when_it_is_written) {
  write({failed("a", 1)});
  EXPECT_EQ(version(), 3);
  EXPECT_EQ(pages({.unsuccessful = true}), "2 1 ");
  EXPECT_EQ(read_run(state, 2)->result.process, 4711);
  EXPECT_EQ(read_run(state, 1)->result.output, "oops");
}

TEST_F(OldHistory, has_spans_and_no_uptimes) {
  const Instant epoch{};
  const HistoryReader reader{state};
  EXPECT_THAT(reader.read_uptimes(), ElementsAre());
  EXPECT_THAT(reader.read_spans({.tasks = {"a"}, .from = epoch, .until = epoch + 1h}).at(0),
              ElementsAre(RunSpan{epoch, epoch + 5ms, RunSpan::Result::failed}));
}

struct HistoryOfVersion2 : OldHistory {
  HistoryOfVersion2() : OldHistory(2) {}
};

TEST_F(HistoryOfVersion2, is_read_as_it_is) {
  const Instant epoch{};
  const HistoryReader reader{state};
  EXPECT_EQ(pages({}), "1 ");
  EXPECT_EQ(pages({.until = hour, .search = "A"}), "1 ");
  EXPECT_EQ(read_run(state, 1)->result.process, 815);
  EXPECT_THAT(reader.read_uptimes(), ElementsAre());
  EXPECT_THAT(reader.read_spans({.tasks = {"a"}, .from = epoch, .until = epoch + 1h}).at(0),
              ElementsAre(RunSpan{epoch, epoch + 5ms, RunSpan::Result::failed}));
  EXPECT_EQ(version(), 2);
}

TEST_F(HistoryOfVersion2, is_migrated_when_the_daemon_starts) {
  {
    HistoryWriter writer{{.state = state, .now = [this] { return hour + 1min; }}};
    writer.begin_uptime(hour);
  }
  EXPECT_EQ(version(), 3);
  EXPECT_EQ(pages({}), "1 ");
  EXPECT_THAT(HistoryReader{state}.read_uptimes(), ElementsAre(Uptime{hour, hour + 1min}));
}

}  // namespace
}  // namespace dutiful
