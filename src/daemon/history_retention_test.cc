// How long the history keeps runs and their output.

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/history.h"
#include "daemon/history_reader.h"
#include "daemon/history_rows.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class HistoryRetention : public testing::Test {
 protected:
  static HistoryEntry run(const std::string& task, Instant started) {
    HistoryEntry made;
    made.result.run.task = task;
    made.result.run.attempt = 1;
    made.result.run.started = started;
    made.result.exit_status = 0;
    made.result.output = "output";
    made.result.output_total = 6;
    return made;
  }
  // A run each minute, one after the other.
  void add(const std::string& task, int count, Duration apart = 1min) {
    HistoryWriter writer{{.state = state, .retention = retention}};
    for (int i = 0; i < count; ++i) writer.add(run(task, now += apart));
  }
  [[nodiscard]] std::vector<HistoryEntry> runs(const std::string& task) const {
    return read_runs(state, {.task = task, .limit = 100'000}).runs;
  }
  [[nodiscard]] std::vector<std::int64_t> ids() const {
    std::vector<std::int64_t> found;
    for (const auto& entry : read_runs(state, {.limit = 1000}).runs) found.push_back(entry.id);
    return found;
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  Retention retention;
  Instant now = at("2025-03-03T00:00:00Z");
};

TEST_F(HistoryRetention, keeps_seven_days_or_a_hundred_runs_whichever_is_more) {
  add("daily", 150, 24h);
  EXPECT_EQ(runs("daily").size(), 100U);
  // Each batch is trimmed as a whole, and the last run of it says what time it is.
  add("hourly", 300, 1h);
  EXPECT_EQ(runs("hourly").size(), 7U * 24 + 1);
  EXPECT_EQ(runs("hourly").back().result.run.started, now - 7 * 24h);
}

TEST_F(HistoryRetention, counts_only_runs_if_no_age_is_given) {
  retention = {.runs = 3, .age = {}};
  add("a", 10);
  add("b", 2);
  EXPECT_EQ(runs("a").size(), 3U);
  EXPECT_EQ(runs("b").size(), 2U);
}

TEST_F(HistoryRetention, counts_only_the_age_if_no_number_is_given) {
  retention = {.runs = 0, .age = 5min};
  add("a", 10);
  EXPECT_EQ(runs("a").size(), 6U);
  EXPECT_EQ(runs("a").back().result.run.started, now - 5min);
}

TEST_F(HistoryRetention, keeps_nothing_if_neither_is_given) {
  retention = {.runs = 0, .age = {}};
  add("a", 3);
  EXPECT_THAT(ids(), ElementsAre());
}

TEST_F(HistoryRetention, keeps_the_output_of_the_newest_runs_only) {
  retention.output_runs = 2;
  add("a", 3);
  add("a", 2);
  const auto kept = runs("a");
  ASSERT_EQ(kept.size(), 5U);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].result.output, i < 2 ? "output" : "") << i;
    EXPECT_EQ(kept[i].result.output_total, 6U);
  }
}

TEST_F(HistoryRetention, keeps_the_end_of_an_output_up_to_the_given_size) {
  retention.output_bytes = 3;
  add("a", 1);
  EXPECT_EQ(runs("a").at(0).result.output, "put");
  EXPECT_EQ(runs("a").at(0).result.output_total, 6U);
  retention.output_bytes = 0;
  add("b", 1);
  EXPECT_EQ(runs("b").at(0).result.output, "");
}

TEST_F(HistoryRetention, never_uses_the_number_of_a_run_again) {
  retention = {.runs = 2, .age = {}};
  add("a", 3);
  add("b", 1);
  EXPECT_THAT(ids(), ElementsAre(4, 3, 2));
  { HistoryWriter{{.state = state}}.prune_removed({"a"}, now + 24h); }
  EXPECT_THAT(ids(), ElementsAre(4, 3, 2));  // the newest of all stays
  add("a", 1);
  EXPECT_THAT(ids(), ElementsAre(5, 4, 3));
  { HistoryWriter{{.state = state}}.prune_removed({"a"}, now + 24h); }
  EXPECT_THAT(ids(), ElementsAre(5, 3));
}

// Pruning runs at every end, with up to ten thousand runs of each of ten thousand tasks: no
// statement may look at all of them.
TEST_F(HistoryRetention, finds_what_it_deletes_and_reads_by_an_index) {
  add("a", 1);
  const Database database{history_of(state), Database::Access::read_only};
  const auto plan = [&](const std::string& sql) {
    Statement row{database, "EXPLAIN QUERY PLAN " + sql};
    std::string text;
    while (row.step()) text += row.text(3) + '\n';
    return text;
  };
  const std::string nth = "(SELECT id FROM run WHERE task = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
  EXPECT_THAT(
      plan("DELETE FROM run WHERE task = ?1 AND started + duration_ms < ?3 AND +id <= " + nth +
           " AND +id < (SELECT max(id) FROM run)"),
      testing::StartsWith("SEARCH run USING INDEX run_of_task_by_end (task=? AND <expr><?)"));
  EXPECT_THAT(
      plan("UPDATE run SET output = x'' WHERE length(output) > 0 AND task = ?1 AND id <= " + nth),
      testing::StartsWith("SEARCH run USING INDEX run_with_output (task=? AND id<?)"));
  const std::string select = select_run_sql(2) + " WHERE id < ?1";
  const std::string order = " ORDER BY id DESC";
  EXPECT_EQ(plan(select + order), "SEARCH run USING INTEGER PRIMARY KEY (rowid<?)\n");
  EXPECT_EQ(plan(select + " AND task = ?2" + order),
            "SEARCH run USING INDEX run_of_task (task=? AND id<?)\n");
  EXPECT_EQ(plan(select + " AND " + unsuccessful_sql + order),
            "SEARCH run USING INDEX unsuccessful_run (id<?)\n");
  EXPECT_EQ(plan(select + " AND task = ?2 AND " + unsuccessful_sql + order),
            "SEARCH run USING INDEX unsuccessful_run_of_task (task=? AND id<?)\n");
  EXPECT_THAT(plan("SELECT min(+id) FROM run WHERE started + duration_ms >= ?1"),
              testing::HasSubstr("INDEX run_by_end (<expr>>?)"));
  EXPECT_THAT(plan("SELECT max(+id) FROM run WHERE started + duration_ms < ?1"
                   " AND started + duration_ms >= ?2 AND +id < ?3"),
              testing::HasSubstr("INDEX run_by_end (<expr>>? AND <expr><?)"));
  // A timeline reads nothing but the index.
  EXPECT_EQ(plan(select_span_sql() + " WHERE task = ?1 AND started + duration_ms >= ?2"
                                     " AND started + duration_ms <= ?3 AND started < ?4"
                                     " ORDER BY started + duration_ms DESC LIMIT ?5"),
            "SEARCH run USING COVERING INDEX run_of_task_by_end"
            " (task=? AND <expr>>? AND <expr><?)\n");
}

}  // namespace
}  // namespace dutiful
