// What can go wrong with a file. Each case is a clear error, and nothing is lost (RULES X3).

#include <fstream>

#include "engine/engine.h"
#include "stores/sqlite_in_test.h"
#include "support/disk_faults.h"
#include "support/sqlite_lock.h"

namespace dutiful {
namespace {

using testing::HasSubstr;
using testing::Not;

class NoTrace : public TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

TEST_F(Sqlite, rejects_a_file_that_is_not_a_database) {
  std::ofstream{path} << std::string(5000, 'x');
  const std::string before = bytes();
  EXPECT_THAT(open_error(), HasSubstr("is not a dutiful state"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(Sqlite, rejects_the_database_of_another_program) {
  tamper("CREATE TABLE theirs (x)");
  const std::string before = bytes();
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(Sqlite, rejects_a_newer_schema) {
  make_state();
  tamper("PRAGMA user_version = 4");
  EXPECT_THAT(open_error(),
              HasSubstr("was written by a newer dutiful (schema 4; this version supports 3)"));
}

TEST_F(Sqlite, rejects_a_path_in_a_missing_directory) {
  path = directory.file("missing/state.db");
  EXPECT_THAT(open_error(), HasSubstr("cannot be locked"));
}

TEST_F(Sqlite, rejects_a_path_below_a_file) {
  std::ofstream{directory.file("file")} << "x";
  path = directory.file("file/state.db");
  EXPECT_THAT(open_error(), HasSubstr("Not a directory; check that its directory exists"));
}

// E, X4: the message shows the beginning of a long path, and a path cannot forge a line.
TEST_F(Sqlite, shows_a_path_cut_and_escaped) {
  path = directory.file(std::string(1'000'000, 'x'));
  EXPECT_THAT(open_error(), HasSubstr("File name too long"));
  EXPECT_LT(open_error().size(), 1000U);
  path = directory.file("missing\nall is well\u202e/state.db");
  EXPECT_THAT(open_error(),
              HasSubstr("missing\\nall is well\\xe2\\x80\\xae/state.db-owner\": No such"));
  EXPECT_THAT(open_error(), Not(HasSubstr("\n")));
  EXPECT_THAT(open_error(), Not(HasSubstr("\u202e")));
}

// X3: another program locks the file for longer than the timeout.
TEST_F(Sqlite, reports_that_another_program_is_writing) {
  const auto store = open_sqlite_store(path, Duration{1});
  const auto rows = store->replace(plan_of({}, planned("a")), "first");
  const RowUpdate update{rows[0], planned("a").progress};
  SqliteLock lock{path};
  EXPECT_THAT(
      error_of<StoreError>([&] {
        store->commit({&update, 1});
      }),
      HasSubstr(
          "has been locked by another process for too long; stop the program that writes to it"));
  EXPECT_EQ(store->load().records.size(), 1);
  lock.release();
  EXPECT_NO_THROW(store->commit({&update, 1}));
}

// X3: the engine succeeds when the lock is gone.
TEST_F(Sqlite, is_retried_until_the_other_program_has_written) {
  NoTrace trace;
  std::vector<std::string> failures;
  Engine engine{Calendar{Zone::utc()},
                {},
                [&] { return open_sqlite_store(path, Duration{1}); },
                trace,
                typed_sink([&](const Event& event) {
                  if (event.name == "StoreFailed") failures.push_back(to_json(event));
                })};
  const Instant now = at("2025-03-03T10:00:00Z");
  engine.initialize({{.name = "a", .cron = "* * * * *", .retry_delay = Duration{60'000}}}, now);
  SqliteLock lock{path};
  EXPECT_TRUE(engine.step(now).starts.empty());
  EXPECT_TRUE(engine.step(engine.next_wake()).starts.empty());
  EXPECT_THAT(failures, testing::SizeIs(2));
  EXPECT_THAT(failures,
              testing::Each(HasSubstr("has been locked by another process for too long")));
  lock.release();
  const auto starts = engine.step(engine.next_wake()).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].at, now + Duration{300});
  engine.end(starts[0].task, {Outcome::success, {}, starts[0].at, {}}, starts[0].at);
  engine.stop(starts[0].at);
  engine.record_ends(starts[0].at);
  EXPECT_EQ(engine.lifecycle(), Lifecycle::uninitialized);
}

// X3: nothing is lost, and it continues when there is room again.
TEST_F(Sqlite, survives_a_disk_that_fills_up) {
  const auto store = open_sqlite_store(path);
  store->replace(plan_of({}, planned("a"), planned("b")), "first");
  const auto records = store->load().records;
  RowUpdate update{records[0].row, records[0].progress};
  update.progress.last_attempt = update.progress.pulse = at("2025-03-04T00:00:00Z");
  update.progress.attempt = 7;
  update.progress.fence = 1;

  {
    const WriteFault full;
    EXPECT_THROW(store->commit({&update, 1}), StoreError);
  }

  EXPECT_EQ(store->load().records, records);
  store->commit({&update, 1});
  EXPECT_EQ(store->load().records.at(0).progress.attempt, 7);
}

TEST_F(Sqlite, reports_a_damaged_file) {
  make_state();
  std::string damaged = bytes();
  for (std::size_t i = 4096; i < damaged.size(); ++i) damaged[i] = 'x';
  std::ofstream{path, std::ios::binary} << damaged;
  EXPECT_THAT(load_error<StoreError>(), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace dutiful
