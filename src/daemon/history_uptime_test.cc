// When the daemon ran, as the history records it.

#include <atomic>
#include <filesystem>
#include <thread>

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
using testing::IsEmpty;

class HistoryUptime : public testing::Test {
 protected:
  HistoryWriter::Options options(std::optional<Duration> heartbeat = std::nullopt) {
    return {.state = state, .now = [this] { return now.load(); }, .heartbeat = heartbeat};
  }
  static HistoryEntry run(Instant started) {
    HistoryEntry made;
    made.result.run.task = "a";
    made.result.run.started = started;
    made.result.exit_status = 0;
    return made;
  }
  [[nodiscard]] std::vector<Uptime> uptimes() const { return HistoryReader{state}.read_uptimes(); }
  // Waits until that many are recorded and the last one was seen then.
  void await(std::size_t count, Instant seen) const {
    while (true) {
      const auto recorded = uptimes();
      if (recorded.size() == count && recorded.back().seen == seen) return;
      std::this_thread::yield();
    }
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
  const Instant start = at("2025-03-03T10:00:00Z");
  std::atomic<Instant> now = start;
};

TEST_F(HistoryUptime, is_recorded_from_the_start_to_the_end_of_the_daemon) {
  {
    HistoryWriter writer{options()};
    writer.begin_uptime(start);
    EXPECT_EQ(writer.up_since(), start);
    await(1, start);
    now = start + 3h;
  }
  EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start + 3h}));
  now = start + 5h;
  {
    HistoryWriter writer{options()};
    writer.begin_uptime(now);
    now = start + 6h;
  }
  EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start + 3h}, Uptime{start + 5h, start + 6h}));
}

// If the daemon is killed, it is known to have run until its last run ended.
TEST_F(HistoryUptime, lasts_longer_with_every_run) {
  HistoryWriter writer{options()};
  writer.begin_uptime(start);
  await(1, start);
  for (int minute = 1; minute <= 3; ++minute) {
    now = start + std::chrono::minutes{minute};
    writer.add(run(now));
    await(1, now);
  }
}

TEST_F(HistoryUptime, lasts_longer_with_every_heartbeat) {
  HistoryWriter writer{options(1ms)};
  writer.begin_uptime(start);
  await(1, start);
  now = start + 2ms;
  await(1, start + 2ms);
  now = start + 4ms;
  await(1, start + 4ms);
}

TEST_F(HistoryUptime, ends_when_the_host_falls_asleep) {
  {
    HistoryWriter writer{options(1ms)};
    writer.begin_uptime(start);
    await(1, start);
    now = start + 8h;
    await(2, start + 8h);
  }
  EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start}, Uptime{start + 8h, start + 8h}));
}

TEST_F(HistoryUptime, never_moves_backwards) {
  {
    HistoryWriter writer{options(1ms)};
    writer.begin_uptime(start);
    await(1, start);
    now = start - 1min;
    writer.add(run(start));
    while (read_runs(state, {}).runs.empty()) std::this_thread::yield();
    EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start}));
    now = start - 24h;
    await(2, start - 24h);
  }
  EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start}, Uptime{start - 24h, start - 24h}));
}

// Nothing is written before the daemon holds its state.
TEST_F(HistoryUptime, is_not_recorded_unless_it_has_begun) {
  { const HistoryWriter writer{options(1ms)}; }
  EXPECT_FALSE(std::filesystem::exists(history_of(state)));
}

TEST_F(HistoryUptime, is_not_recorded_if_no_history_is_kept) {
  {
    HistoryWriter::Options none = options(1ms);
    none.retention = {.runs = 0, .age = {}};
    HistoryWriter writer{none};
    writer.begin_uptime(start);
    EXPECT_EQ(writer.up_since(), start);
  }
  EXPECT_FALSE(std::filesystem::exists(history_of(state)));
}

// Decision 5: a history that cannot be written delays nothing.
TEST_F(HistoryUptime, is_recorded_as_soon_as_the_history_can_be_written) {
  std::filesystem::create_directory(history_of(state));
  HistoryWriter::Options blocked = options(1h);
  std::atomic<int> failures = 0;
  blocked.on_failure = [&](const HistoryFailure& failure) {
    EXPECT_EQ(failure.waiting, 0);
    EXPECT_EQ(failure.lost, 0);
    ++failures;
  };
  HistoryWriter writer{blocked};
  writer.begin_uptime(start);
  while (failures == 0) std::this_thread::yield();
  now = start + 2h;
  std::filesystem::remove(history_of(state));
  await(1, start + 2h);
  EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start + 2h}));
  EXPECT_EQ(failures, 1);
}

TEST_F(HistoryUptime, is_recorded_again_if_the_file_was_removed) {
  HistoryWriter writer{options(1ms)};
  writer.begin_uptime(start);
  await(1, start);
  now = start + 2ms;
  await(1, start + 2ms);
  std::filesystem::remove(history_of(state));
  while (!std::filesystem::exists(history_of(state))) std::this_thread::yield();
  await(1, start + 2ms);
  EXPECT_THAT(uptimes(), ElementsAre(Uptime{start, start + 2ms}));
}

TEST_F(HistoryUptime, is_kept_for_30_days_or_as_long_as_runs) {
  const auto run_daemon = [&](Instant began, Duration age) {
    HistoryWriter::Options kept = options();
    kept.retention.age = age;
    now = began;
    HistoryWriter writer{kept};
    writer.begin_uptime(began);
  };
  run_daemon(start, 24h);
  run_daemon(start + 30 * 24h, 24h);
  EXPECT_EQ(uptimes().size(), 2);
  run_daemon(start + 30 * 24h + 1ms, 24h);
  EXPECT_EQ(uptimes().size(), 2);
  run_daemon(start + 90 * 24h, 60 * 24h);
  EXPECT_EQ(uptimes().size(), 3);
  run_daemon(start + 91 * 24h, 60 * 24h);
  EXPECT_EQ(uptimes().size(), 2);
}

TEST_F(HistoryUptime, has_at_most_ten_thousand_stretches) {
  {
    HistoryWriter writer{options()};
    writer.begin_uptime(start);
  }
  Database{history_of(state)}.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)"
      " INSERT INTO uptime SELECT NULL, 1740996000000 + i, 1740996000000 + i FROM n");
  now = start + 1h;
  {
    HistoryWriter writer{options()};
    writer.begin_uptime(now);
  }
  EXPECT_EQ(Database{history_of(state)}.integer("SELECT count(*) FROM uptime"), 10'000);
  EXPECT_EQ(uptimes().size(), 10'000);
  EXPECT_EQ(uptimes().back(), (Uptime{start + 1h, start + 1h}));
}

// X4: another program may have written anything.
TEST_F(HistoryUptime, is_rejected_if_it_cannot_be_one) {
  for (const char* row :
       {"(1, 5, 4)", "(1, -9223372036854775808, 4)", "(1, 'x', 4)", "(1, 4, x'')"}) {
    std::filesystem::remove(history_of(state));
    {
      Database database{history_of(state)};
      database.migrate(history_format, 0);
      database.execute((std::string{"INSERT INTO uptime VALUES "} + row).c_str());
    }
    EXPECT_THROW((void)uptimes(), HistoryError) << row;
  }
}

}  // namespace
}  // namespace dutiful
