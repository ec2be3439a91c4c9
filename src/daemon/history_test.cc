#include "daemon/history.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <semaphore>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/history_reader.h"
#include "support/allocations.h"
#include "support/disk_faults.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

struct Wanted {
  std::string state;
  std::optional<std::string> task{};
  std::size_t count = 20;
};
std::vector<HistoryEntry> read_history(const Wanted& wanted) {
  return read_runs(wanted.state, {.task = wanted.task, .limit = wanted.count}).runs;
}

HistoryEntry entry(const std::string& task, std::uint32_t attempt, std::size_t output_size = 0) {
  HistoryEntry entry;
  entry.result.run.task = task;
  entry.result.run.attempt = attempt;
  entry.result.exit_status = 0;
  entry.result.output.assign(output_size, 'x');
  return entry;
}

TEST(History, loses_the_oldest_runs_if_too_many_bytes_wait) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  std::filesystem::create_directory(history_of(state));  // cannot be written yet
  std::binary_semaphore blocked{0};
  std::binary_semaphore resume{0};
  HistoryRecovery recovery{};
  {
    HistoryWriter writer{
        {.state = state,
         .retention = {.output_bytes = 1024UL * 1024},
         .on_failure =
             [&](const HistoryFailure&) {
               blocked.release();
               resume.acquire();
             },
         .on_recovery = [&](const HistoryRecovery& reported) { recovery = reported; }}};
    writer.add(entry("a", 1));
    blocked.acquire();
    for (std::uint32_t attempt = 2; attempt <= 40; ++attempt) {
      writer.add(entry("a", attempt, 1024UL * 1024));
    }
    std::filesystem::remove(history_of(state));
    resume.release();
  }

  const auto entries = read_history({.state = state, .count = 100});
  ASSERT_EQ(entries.size(), 15U);  // of a little more than 1 MiB each, so less than 16 MiB
  EXPECT_EQ(entries.front().result.run.attempt, 40U);
  EXPECT_EQ(entries.back().result.run.attempt, 26U);
  EXPECT_EQ(recovery.written, 15U);
  EXPECT_EQ(recovery.lost, 25U);
}

// A writer whose history cannot be opened, because a directory has its name.
class BlockedHistory {
 public:
  BlockedHistory() {
    std::filesystem::create_directory(path);
    writer.emplace(HistoryWriter::Options{
        .state = state,
        .on_failure =
            [this](const HistoryFailure& reported) {
              failures.push_back(reported);
              failed.release();
            },
        .on_recovery =
            [this](const HistoryRecovery& reported) { recoveries.push_back(reported); }});
  }
  // Adds that many runs, and waits until the writer reports that they cannot be written.
  void add_and_fail(std::uint32_t count) {
    for (std::uint32_t attempt = 1; attempt <= count; ++attempt) writer->add(entry("a", attempt));
    failed.acquire();
  }

  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string path = history_of(state);
  std::counting_semaphore<> failed{0};
  // To be read after the writer has ended.
  std::vector<HistoryFailure> failures;
  std::vector<HistoryRecovery> recoveries;
  std::optional<HistoryWriter> writer;
};

TEST(History, keeps_runs_in_memory_until_it_can_be_written) {
  BlockedHistory history;
  history.add_and_fail(20);
  std::filesystem::remove(history.path);
  // The writer retries on its own.
  while (read_history({.state = history.state}).empty()) std::this_thread::yield();
  history.writer.reset();

  const auto entries = read_history({.state = history.state});
  ASSERT_EQ(entries.size(), 20U);
  EXPECT_EQ(entries.front().result.run.attempt, 20U);
  EXPECT_EQ(entries.back().result.run.attempt, 1U);
  ASSERT_EQ(history.failures.size(), 1U);
  EXPECT_THAT(history.failures[0].error, testing::HasSubstr("is a directory; move it away"));
  EXPECT_EQ(history.failures[0].lost, 0U);
  EXPECT_TRUE(history.failures[0].next_try.has_value());
  ASSERT_EQ(history.recoveries.size(), 1U);
  EXPECT_EQ(history.recoveries[0].written, 20U);
  EXPECT_EQ(history.recoveries[0].lost, 0U);
}

TEST(History, tries_once_more_when_its_writer_ends) {
  BlockedHistory history;
  history.add_and_fail(3);
  std::filesystem::remove(history.path);
  history.writer.reset();
  EXPECT_EQ(read_history({.state = history.state}).size(), 3U);
}

TEST(History, reports_how_many_runs_are_lost_when_its_writer_ends) {
  BlockedHistory history;
  history.add_and_fail(3);
  history.writer->add(entry("a", 4));
  history.writer.reset();
  ASSERT_EQ(history.failures.size(), 2U);
  EXPECT_EQ(history.failures[1].lost, 4U);
  EXPECT_EQ(history.failures[1].waiting, 0U);
  EXPECT_FALSE(history.failures[1].next_try.has_value());
  EXPECT_TRUE(history.recoveries.empty());
}

TEST(History, reports_runs_for_which_there_was_no_memory) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  std::vector<HistoryFailure> failures;
  std::binary_semaphore failed{0};
  std::size_t lost_in_all = 0;
  {
    HistoryWriter writer{
        {.state = state,
         .on_failure =
             [&](const HistoryFailure& reported) {
               failures.push_back(reported);
               lost_in_all += reported.lost;
               failed.release();
             },
         .on_recovery = [&](const HistoryRecovery& reported) { lost_in_all += reported.lost; }}};
    writer.add_lost();
    failed.acquire();  // without another run
    // Within a minute, it is reported with the next run.
    writer.add_lost();
    writer.add_lost();
    writer.add(entry("a", 1));
  }
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].error, "memory is exhausted");
  EXPECT_EQ(failures[0].lost, 1U);
  EXPECT_EQ(lost_in_all, 3U);
  EXPECT_EQ(read_history({.state = state}).size(), 1U);
}

TEST(History, that_is_not_kept_loses_nothing) {
  const TemporaryDirectory directory;
  bool is_reported = false;
  {
    HistoryWriter writer{{.state = directory.file("state.db"),
                          .retention = {.runs = 0, .age = Duration::zero()},
                          .on_failure = [&](const HistoryFailure&) { is_reported = true; },
                          .on_recovery = [&](const HistoryRecovery&) { is_reported = true; }}};
    writer.add_lost();
  }
  EXPECT_FALSE(is_reported);
}

TEST(History, reports_that_too_many_files_are_open) {
  const TemporaryDirectory directory;
  HistoryFailure last{};
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  {
    HistoryWriter writer{{.state = directory.file("state.db"),
                          .on_failure = [&](const HistoryFailure& reported) { last = reported; }}};
    writer.add(entry("a", 1));
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(last.lost, 1U);
  EXPECT_THAT(last.error, testing::HasSubstr("too many files are open"));
}

TEST(History, prunes_only_the_old_runs_of_removed_tasks) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const auto old = [](const std::string& task) { return entry(task, 1); };  // from 1970
  const auto recent = [](const std::string& task) {
    HistoryEntry made = entry(task, 2);
    made.result.run.started = at("2025-03-01T00:00:00Z");
    return made;
  };
  {
    HistoryWriter writer{{.state = state}};
    writer.prune_removed({"none"}, at("2025-03-01T00:00:00Z"));
  }
  EXPECT_FALSE(std::filesystem::exists(history_of(state)));
  {
    HistoryWriter writer{{.state = state}};
    for (const std::string task : {"kept", "gone"}) {
      writer.add(old(task));
      writer.add(recent(task));
    }
  }
  {
    HistoryWriter writer{{.state = state}};
    writer.prune_removed({"kept", "new"}, at("2025-03-01T00:00:00Z"));
  }
  EXPECT_EQ(read_history({.state = state, .task = "kept"}).size(), 2U);
  const auto gone = read_history({.state = state, .task = "gone"});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].result.run.attempt, 2U);
}

TEST(History, is_the_same_through_a_link_to_the_state) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string link = directory.file("link.db");
  std::ofstream{state} << "";
  std::filesystem::create_symlink(state, link);
  { HistoryWriter{{.state = link}}.add(entry("a", 1)); }
  EXPECT_EQ(read_history({.state = state}).size(), 1U);
  EXPECT_EQ(read_history({.state = link}).size(), 1U);
}

TEST(History, reports_damage_and_what_to_do) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  { HistoryWriter{{.state = state}}.add(entry("a", 1)); }
  const auto damage_table = [&] {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(history_of(state).c_str(), &database), SQLITE_OK);
    const char* sql = "ALTER TABLE run RENAME COLUMN attempt TO other";
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  };
  const auto damage_file = [&] { std::ofstream{history_of(state)} << std::string(5000, 'x'); };
  const auto is_reported =
      testing::AllOf(testing::StartsWith("The history \"" + history_of(state) + "\" is damaged"),
                     testing::HasSubstr("delete it or move it away"));
  for (const auto& damage : {std::function<void()>{damage_table}, {damage_file}}) {
    damage();
    try {
      (void)read_history({.state = state});
      ADD_FAILURE() << "it was read";
    } catch (const HistoryError& error) {
      EXPECT_THAT(error.what(), is_reported);
    }
  }
  std::string reported;
  {
    HistoryWriter writer{{.state = state, .on_failure = [&](const HistoryFailure& failure) {
                            reported = failure.error;
                          }}};
    writer.add(entry("a", 1));
  }
  EXPECT_THAT(reported, is_reported);
}

// X4: the view has infinitely many rows.
TEST(History, rejects_a_view_in_place_of_its_table) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  { HistoryWriter{{.state = state}}.add(entry("a", 1)); }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(history_of(state).c_str(), &database), SQLITE_OK);
  const char* sql =
      "CREATE TABLE kept AS SELECT * FROM run; DROP TABLE run; CREATE VIEW run AS"
      " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT kept.* FROM n, "
      "kept";
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_THROW((void)read_history({.state = state}), HistoryError);
}

// A writer that has its file open, with one run in it.
class OpenHistory {
 public:
  OpenHistory() {
    writer->add(entry("a", 1));
    while (attempts().empty()) std::this_thread::yield();
  }
  // Adds one more run, and ends the writer.
  void add_last(std::uint32_t attempt) {
    writer->add(entry("a", attempt));
    writer.reset();
  }
  // Newest first.
  [[nodiscard]] std::vector<std::uint32_t> attempts() const {
    std::vector<std::uint32_t> found;
    for (const auto& entry : read_history({.state = state})) {
      found.push_back(entry.result.run.attempt);
    }
    return found;
  }

  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string path = history_of(state);
  std::string reported;
  std::counting_semaphore<> failed{0};
  std::optional<HistoryWriter> writer{
      std::in_place,
      HistoryWriter::Options{.state = state, .on_failure = [this](const HistoryFailure& failure) {
                               reported = failure.error;
                               failed.release();
                             }}};
};

TEST(History, starts_anew_if_its_file_was_removed) {
  for (const bool with_log : {false, true}) {
    OpenHistory history;
    std::filesystem::remove(history.path);
    if (with_log) {
      std::filesystem::remove(history.path + "-wal");
      std::filesystem::remove(history.path + "-shm");
    }
    history.add_last(2);
    EXPECT_THAT(history.attempts(), testing::ElementsAre(2));
    EXPECT_EQ(history.reported, "");
  }
}

TEST(History, continues_in_a_history_that_replaced_its_file) {
  const TemporaryDirectory elsewhere;
  const std::string other = elsewhere.file("state.db");
  { HistoryWriter{{.state = other}}.add(entry("a", 7)); }
  OpenHistory history;
  std::filesystem::rename(history_of(other), history.path);  // beside the log of the old file
  history.add_last(2);
  EXPECT_THAT(history.attempts(), testing::ElementsAre(2, 7));
  EXPECT_EQ(history.reported, "");
}

TEST(History, reports_a_file_of_another_kind_that_replaced_it) {
  OpenHistory history;
  std::filesystem::remove(history.path);
  std::ofstream{history.path} << std::string(5000, 'x');
  history.add_last(2);
  EXPECT_THAT(history.reported, testing::HasSubstr("is damaged"));
}

// If the disk fails late, it is unknown whether a transaction was committed. Here the next try
// finds that it was.
TEST(History, does_not_write_runs_again_that_a_failed_transaction_has_written) {
  const TemporaryDirectory elsewhere;
  const std::string other = elsewhere.file("state.db");
  { HistoryWriter{{.state = other}}.add(entry("a", 2)); }
  OpenHistory history;
  {
    const WriteFault fault;
    history.writer->add(entry("a", 2));
    history.failed.acquire();
    for (const char* beside : {"-wal", "-shm"}) std::filesystem::remove(history.path + beside);
    std::filesystem::rename(history_of(other), history.path);
  }
  history.add_last(3);
  EXPECT_THAT(history.attempts(), testing::ElementsAre(3, 2));
}

// A reader in another process, while the file is being created, finds no run or the first one.
TEST(History, reads_as_empty_while_its_file_is_being_created) {
  const TemporaryDirectory directory;
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    const std::string state = directory.file("state" + std::to_string(round));
    const pid_t maker = fork();
    if (maker == 0) {
      { HistoryWriter{{.state = state}}.add(entry("a", 1)); }
      _exit(0);
    }
    ASSERT_GT(maker, 0);
    std::string trouble;
    bool has_ended = false;
    std::size_t runs = 0;
    while (runs == 0 && trouble.empty() && !has_ended) {
      has_ended = waitpid(maker, nullptr, WNOHANG) == maker;  // reads once more after that
      try {
        runs = read_history({.state = state}).size();
      } catch (const HistoryError& error) {
        trouble = error.what();
      }
    }
    if (!has_ended) waitpid(maker, nullptr, 0);
    ASSERT_EQ(trouble, "");
    ASSERT_EQ(runs, 1U);
  }
}

HistoryEntry run(Reason reason, HistoryEntry::End end = HistoryEntry::End::recorded) {
  HistoryEntry made = entry("a", 1);
  made.result.run.reason = reason;
  made.result.run.pulse = at("2025-03-03T10:00:00Z");
  made.result.run.started = at("2025-03-03T10:07:00Z");
  made.scheduled = at("2025-03-03T10:05:00Z");
  made.end = end;
  return made;
}

TEST(History, counts_lateness_from_when_the_run_should_have_started) {
  using namespace std::chrono_literals;
  using End = HistoryEntry::End;
  EXPECT_EQ(lateness_of(run(Reason::cron)), 2min);
  EXPECT_EQ(lateness_of(run(Reason::retry)), 2min);
  EXPECT_EQ(lateness_of(run(Reason::orphan)), 7min);        // since its pulse
  EXPECT_EQ(lateness_of(run(Reason::boot)), std::nullopt);  // the task did not exist at its minute
  // If the end of a run is not recorded, only its pulse is known.
  EXPECT_EQ(lateness_of(run(Reason::cron, End::interrupted)), 7min);
  EXPECT_EQ(lateness_of(run(Reason::boot, End::none)), std::nullopt);
  HistoryEntry unknown = run(Reason::cron, End::none);
  unknown.reason_known = false;
  EXPECT_EQ(lateness_of(unknown), std::nullopt);
}

TEST(History, keeps_an_interrupted_run_only_once) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  RecordedTask task{.name = "a",
                    .state = RecordedTask::State::interrupted,
                    .attempt = 1,
                    .reason = Reason::cron,
                    .pulse = at("2025-03-03T10:00:00Z"),
                    .last_attempt = at("2025-03-03T10:07:00Z")};
  const Instant now = at("2025-03-03T12:00:00Z");
  for (int kills = 0; kills < 2; ++kills) {  // the second kill before the run was restarted
    HistoryWriter writer{{.state = state}};
    writer.add(unfinished_run(task, now).value());
  }
  task.attempt = 2;
  task.reason.reset();  // the record does not say why it started
  task.last_attempt = at("2025-03-03T11:00:00Z");
  {
    HistoryWriter writer{{.state = state}};
    writer.add(unfinished_run(task, now).value());
    writer.add(entry("a", 3));
  }

  const auto entries = read_history({.state = state});
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].end, HistoryEntry::End::recorded);
  EXPECT_EQ(entries[1].end, HistoryEntry::End::interrupted);
  EXPECT_EQ(entries[1].result.run.attempt, 2U);
  EXPECT_FALSE(entries[1].reason_known);
  EXPECT_EQ(entries[2].end, HistoryEntry::End::interrupted);
  EXPECT_TRUE(entries[2].reason_known);
  EXPECT_EQ(entries[2].result.run.pulse, at("2025-03-03T10:00:00Z"));
  EXPECT_EQ(entries[2].result.run.started, at("2025-03-03T10:07:00Z"));
}

TEST(History, shows_a_run_that_has_not_ended_according_to_the_record) {
  const Instant now = at("2025-03-03T12:00:00Z");
  RecordedTask task{.name = "a",
                    .state = RecordedTask::State::running,
                    .attempt = 2,
                    .pulse = at("2025-03-03T10:00:00Z"),
                    .last_attempt = at("2025-03-03T11:59:00Z")};
  const auto run = unfinished_run(task, now);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->end, HistoryEntry::End::none);
  EXPECT_EQ(run->result.duration, std::chrono::minutes{1});
  EXPECT_FALSE(run->to_be_restarted);
  for (const auto ended :
       {RecordedTask::State::awaiting_run, RecordedTask::State::awaiting_retry}) {
    task.state = ended;
    EXPECT_FALSE(unfinished_run(task, now));
  }
}

TEST(History, keeps_a_run_if_memory_runs_out_for_a_moment) {
  const SpareAllocations ours;
  bool was_hit = true;
  int reports = 0;
  for (std::uint64_t n = 1; was_hit; ++n) {
    SCOPED_TRACE(n);
    const TemporaryDirectory directory;
    const std::string state = directory.file("a state with a name too long for a short string.db");
    std::size_t lost = 0;
    {
      HistoryWriter writer{{.state = state, .on_failure = [&](const HistoryFailure& failure) {
                              lost += failure.lost;
                              ++reports;
                            }}};
      fail_allocation(n);
      writer.add(entry("a task with a name too long for a short string", 1));
    }
    was_hit = allocation_failed();
    fail_allocation(0);
    EXPECT_EQ(read_history({.state = state}).size() + lost, 1U);
  }
  EXPECT_GT(reports, 3);
}

}  // namespace
}  // namespace dutiful
