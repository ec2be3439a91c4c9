// States of earlier schemas, whose daemons were killed while they ran: tests/data/state-v1.db and
// state-v2.db.

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/engine.h"
#include "stores/sqlite_in_test.h"
#include "support/disk_faults.h"

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Migration : public Sqlite {
 protected:
  Migration() { std::filesystem::copy_file(DUTIFUL_TEST_DATA "/state-v1.db", path); }

  // The rows of an answer, one line each.
  std::string ask(const char* sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    std::string answer;
    const auto add = [](void* to, int count, char** values, char** /*names*/) {
      for (int i = 0; i < count; ++i) {
        static_cast<std::string*>(to)->append(values[i] == nullptr ? "-" : values[i]) += ' ';
      }
      static_cast<std::string*>(to)->back() = '\n';
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, sql, add, &answer, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return answer;
  }
  std::string version() const { return ask("PRAGMA user_version"); }
  // Every field of version 1.
  std::string contents_of_version_1() const {
    return ask("SELECT id, identifier FROM scheduler") + ask("SELECT * FROM task") +
           ask("SELECT task, scheduler, state, boot_pending, orphan_pending, attempt, pulse,"
               " first_coming, served_until, last_attempt, last_success, last_failure,"
               " pending_retry_until FROM progress");
  }

  struct Summary {
    TaskState state;
    std::uint32_t attempt;
    std::uint32_t retries;
    std::uint64_t fence;
    friend bool operator==(const Summary&, const Summary&) = default;
  };
  static std::map<std::string, Summary> summary_of(const std::vector<TaskRecord>& records) {
    std::map<std::string, Summary> by_name;
    for (const auto& [row, config, progress, scheduler, account] : records) {
      by_name[config.name] = {progress.state, progress.attempt, progress.retries, progress.fence};
    }
    return by_name;
  }
  // Restarts after a crash count as retries, because version 1 did not distinguish them.
  const std::map<std::string, Summary> expected{
      {"done", {TaskState::awaiting_run, 1, 0, 1}},
      {"failed and retried", {TaskState::awaiting_retry, 3, 2, 1}},
      {"failed once", {TaskState::awaiting_retry, 1, 0, 1}},
      {"never ran", {TaskState::awaiting_run, 0, 0, 0}},
      {"running", {TaskState::running, 2, 1, 1}},
      {"waits to be restarted", {TaskState::awaiting_run, 1, 0, 1}},
      {"waits to boot", {TaskState::awaiting_run, 0, 0, 0}},
  };
};

TEST_F(Migration, is_not_needed_to_read) {
  const std::string before = bytes();
  EXPECT_EQ(summary_of(read_sqlite_state(path)), expected);
  EXPECT_NO_THROW(check_sqlite_state(path));
  EXPECT_EQ(bytes(), before);
  EXPECT_EQ(version(), "1\n");
}

TEST_F(Migration, keeps_every_record) {
  const auto seen = read_sqlite_state(path);
  const std::string before = contents_of_version_1();
  {
    const auto store = open_sqlite_store(path);
    EXPECT_EQ(store->load(), (StoredState{.records = seen, .fence = 0}));
  }
  EXPECT_EQ(summary_of(seen), expected);
  EXPECT_EQ(version(), "3\n");
  EXPECT_EQ(contents_of_version_1(), before);
  EXPECT_EQ(read_sqlite_state(path), seen);
  EXPECT_EQ(open_sqlite_store(path)->load().records, seen);  // migrated only once
}

// The tables equal those of a state created by this version.
TEST_F(Migration, leads_to_the_same_columns) {
  const char* columns =
      "SELECT m.name, c.cid, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk"
      " FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2";
  (void)open_sqlite_store(path);
  const std::string migrated = ask(columns);
  path = directory.file("new.db");
  (void)open_sqlite_store(path);
  EXPECT_EQ(migrated, ask(columns));
}

// P2, P8: the interrupted run is restarted, with a larger fence.
TEST_F(Migration, lets_interrupted_tasks_continue) {
  class : public TraceSink {
    void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
  } trace;
  std::vector<std::string> retries;
  Engine engine{Calendar{Zone::utc()},
                {},
                [&] { return open_sqlite_store(path); },
                trace,
                typed_sink([&](const Event& event) {
                  if (event.name == "TaskRetryStarted") retries.push_back(to_json(event));
                })};
  std::vector<TaskConfig> list;
  Instant now{};
  for (const TaskRecord& record : read_sqlite_state(path)) {
    list.push_back(record.config);
    now = std::max({now, record.progress.first_coming, record.progress.last_attempt});
  }
  now += std::chrono::seconds{2};  // still within the minute
  engine.initialize(list, now);
  std::map<std::string, std::pair<Reason, std::uint32_t>> started;
  std::vector<std::uint64_t> fences;
  for (const Start& start : engine.step(now).starts) {
    started[start.name] = {start.reason, start.attempt};
    fences.push_back(start.fence);
  }
  EXPECT_EQ(started,
            (std::map<std::string, std::pair<Reason, std::uint32_t>>{
                {"failed and retried", {Reason::retry, 4}},
                {"running", {Reason::orphan, 3}},
                {"waits to be restarted", {Reason::orphan, 2}},
                {"waits to boot", {Reason::boot, 1}}}));
  EXPECT_THAT(fences, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(retries, ElementsAre(HasSubstr("\"retryCount\":3")));
}

// P4
TEST_F(Migration, happens_as_a_whole_or_not_at_all) {
  const std::string before = contents_of_version_1();
  {
    bool fails = true;
    const SyncFault fault{[&](const std::string& file) {
      return file.ends_with("-wal") && std::exchange(fails, false);
    }};
    EXPECT_THAT(open_error(), HasSubstr("the disk reports an error"));
    EXPECT_FALSE(fails);
  }
  EXPECT_EQ(version(), "1\n");
  EXPECT_EQ(ask("SELECT count(*) FROM pragma_table_info('progress')"), "13\n");
  EXPECT_EQ(ask("SELECT count(*) FROM pragma_table_info('scheduler')"), "2\n");
  EXPECT_EQ(contents_of_version_1(), before);
  EXPECT_EQ(summary_of(read_sqlite_state(path)), expected);

  EXPECT_EQ(summary_of(open_sqlite_store(path)->load().records), expected);
}

class MigrationFromVersion2 : public Migration {
 protected:
  MigrationFromVersion2() {
    std::filesystem::copy_file(
        DUTIFUL_TEST_DATA "/state-v2.db", path, std::filesystem::copy_options::overwrite_existing);
  }
  std::string contents_of_version_2() const {
    return contents_of_version_1() + ask("SELECT fence FROM scheduler") +
           ask("SELECT retries, fence, recurrence, recurs_until FROM progress");
  }
};

TEST_F(MigrationFromVersion2, keeps_every_record) {
  const std::string before = contents_of_version_2();
  const auto seen = read_sqlite_state(path);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_EQ(open_sqlite_store(path)->load().records, seen);
  EXPECT_EQ(version(), "3\n");
  EXPECT_EQ(contents_of_version_2(), before);
}

// Nothing is known about the pulses that the earlier version served.
TEST_F(MigrationFromVersion2, begins_the_accounts_with_the_first_start) {
  const auto seen = read_sqlite_state(path);
  std::vector<TaskConfig> list;
  for (const TaskRecord& record : seen) {
    EXPECT_EQ(record.account, Account{});
    list.push_back(record.config);
  }
  {
    class : public TraceSink {
      void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
    } trace;
    Engine engine{Calendar{Zone::utc()}, {}, [&] { return open_sqlite_store(path); }, trace};
    const Instant now = at("2026-11-16T15:40:30Z");
    engine.initialize(list, now);
    EXPECT_EQ(engine.step(now).starts.size(), 3U);
  }
  for (const TaskRecord& record : read_sqlite_state(path)) {
    if (record.config.name == "never ran") continue;
    const auto before = std::ranges::find(
        seen, record.config.name, [](const TaskRecord& task) { return task.config.name; });
    EXPECT_EQ(record.account.from, before->progress.served_until + Duration{1});
    EXPECT_EQ(record.account.fates.total(),
              Calendar{Zone::utc()}.count(CronExpression::parse(record.config.cron),
                                          before->progress.served_until,
                                          record.progress.served_until));
  }
}

}  // namespace
}  // namespace dutiful
