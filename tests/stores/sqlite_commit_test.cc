// I2, P4: a failed change has not happened, not even for a process that opens the state after a
// crash. If this cannot be ensured, the error says so.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "engine/engine.h"
#include "stores/sqlite_in_test.h"
#include "support/allocations.h"
#include "support/disk_faults.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The unit that a power cut loses or keeps.
constexpr std::size_t disk_page = 4096;

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

class Commit : public Sqlite {
 protected:
  void SetUp() override {
    make_state();
    store = open_sqlite_store(path);
    before = store->load().records;
    ASSERT_EQ(before.size(), 2);
    rows = store->replace(plan_of(before, planned("c")), "second");
    before = store->load().records;
    ASSERT_EQ(before.size(), 1);
  }

  void replace() { store->replace(plan_of(before, planned("d"), planned("e")), "third"); }

  void commit() {
    RowUpdate update{rows[0], before[0].progress};
    update.progress.state = TaskState::running;
    update.progress.attempt = 1;
    update.progress.fence = 1;
    update.progress.last_attempt = update.progress.pulse = at("2025-03-04T00:00:00Z");
    store->commit({&update, 1});
  }

  // What the next process finds if this one dies now.
  std::vector<TaskRecord> after_a_crash() const { return after_a_crash(read_file(path + "-wal")); }
  std::vector<TaskRecord> after_a_crash(const std::string& log) const {
    const TemporaryDirectory elsewhere;
    const std::string copy = elsewhere.file("state.db");
    std::filesystem::copy_file(path, copy);
    std::ofstream{copy + "-wal", std::ios::binary} << log;
    return open_sqlite_store(copy)->load().records;
  }

  struct Failure {
    std::string message = "no error";
    std::optional<bool> in_doubt{};
  };
  template <typename Call>
  static Failure failure_of(Call call) {
    try {
      call();
      return {};
    } catch (const StoreError& error) {
      return {error.what(), error.in_doubt()};
    }
  }

  std::function<bool(const std::string&)> is_log = [this](const std::string& file) {
    return file == path + "-wal";
  };

  std::unique_ptr<Store> store;
  std::vector<std::int64_t> rows;
  std::vector<TaskRecord> before;
};

TEST_F(Commit, has_not_happened_if_it_failed) {
  for (const bool whole_list : {true, false}) {
    SCOPED_TRACE(whole_list);
    int left = 1;
    const SyncFault fault{[&](const std::string& file) { return is_log(file) && left-- > 0; }};
    const Failure failure = failure_of([&] { whole_list ? replace() : commit(); });
    EXPECT_THAT(failure.message, HasSubstr("the disk reports an error"));
    EXPECT_EQ(failure.in_doubt, false);
    EXPECT_EQ(after_a_crash(), before);
    EXPECT_EQ(store->load().records, before);
  }
}

// After a failed sync, any page written since the last successful one may or may not be on the
// disk, and a later sync says nothing about it unless it was written again.
TEST_F(Commit, has_not_happened_if_it_failed_whatever_the_disk_kept) {
  const std::string old_log = read_file(path + "-wal");
  std::string failed_log;
  const SyncFault fault{[&](const std::string& file) {
    if (!is_log(file) || !failed_log.empty()) return false;
    failed_log = read_file(file);
    return true;
  }};
  ASSERT_EQ(failure_of([&] { replace(); }).in_doubt, false);
  const std::string log = read_file(path + "-wal");
  ASSERT_EQ(log.size(), failed_log.size());
  ASSERT_NE(after_a_crash(failed_log), before);

  std::vector<std::size_t> unsure;
  for (std::size_t i = 0; i < log.size(); i += disk_page) {
    const auto page = [&](const std::string& bytes) {
      return i < bytes.size() ? bytes.substr(i, disk_page) : std::string{};
    };
    if (page(log) != page(old_log) && page(log) == page(failed_log)) unsure.push_back(i);
  }
  ASSERT_GE(unsure.size(), 3);
  ASSERT_LE(unsure.size(), 8);
  for (std::size_t kept = 0; kept < std::size_t{1} << unsure.size(); ++kept) {
    std::string on_disk = log;
    for (std::size_t i = 0; i < unsure.size(); ++i) {
      if ((kept >> i & 1U) != 0) continue;
      const std::size_t begin = unsure[i];
      const std::size_t size = std::min(disk_page, log.size() - begin);
      std::string old(size, '\0');
      if (begin < old_log.size()) old_log.copy(old.data(), size, begin);
      on_disk.replace(begin, size, old);
    }
    EXPECT_EQ(after_a_crash(on_disk), before) << kept;
  }
}

TEST_F(Commit, is_in_doubt_if_the_disk_keeps_failing) {
  const SyncFault fault{is_log};
  const Failure failure = failure_of([&] { replace(); });
  EXPECT_THAT(failure.message,
              AllOf(HasSubstr("the disk reports an error"),
                    HasSubstr("it is unknown whether the change was made; check the disk and try "
                              "again")));
  EXPECT_EQ(failure.in_doubt, true);
  // Nothing has changed unless the host loses data that it has not written yet.
  EXPECT_EQ(after_a_crash(), before);
}

// So the doubt is real.
TEST_F(Commit, that_is_in_doubt_may_have_happened) {
  std::optional<WriteFault> full;
  const SyncFault fault{[&](const std::string& file) {
    if (is_log(file)) full.emplace();
    return is_log(file);
  }};
  EXPECT_EQ(failure_of([&] { replace(); }).in_doubt, true);
  full.reset();
  EXPECT_EQ(store->load().records, before);
  EXPECT_EQ(after_a_crash().size(), 2);
  EXPECT_EQ(after_a_crash().at(0).scheduler, "third");
}

TEST_F(Commit, is_certain_again_with_the_next_one) {
  {
    const SyncFault fault{is_log};
    EXPECT_EQ(failure_of([&] { replace(); }).in_doubt, true);
  }
  {
    const WriteFault full;
    EXPECT_EQ(failure_of([&] { replace(); }).in_doubt, true);
  }
  commit();
  EXPECT_EQ(after_a_crash(), store->load().records);
  const auto committed = store->load().records;
  EXPECT_EQ(committed.at(0).progress.attempt, 1);
  const WriteFault full;
  EXPECT_EQ(failure_of([&] { replace(); }).in_doubt, false);
  EXPECT_EQ(store->load().records, committed);
}

// X3: from the third failure on, each try uses a new connection.
TEST_F(Commit, has_not_happened_however_often_it_fails) {
  {
    const SyncFault fault{[](const std::string& /*file*/) { return true; }};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(failure_of([&] { commit(); }).in_doubt, true) << i;
  }
  EXPECT_EQ(store->load().records, before);
  EXPECT_EQ(after_a_crash(), before);
  commit();
  EXPECT_EQ(store->load().records.at(0).progress.attempt, 1);
  EXPECT_EQ(after_a_crash(), store->load().records);
}

// A scheduler that continues with the previous list must not write into the records of the new one.
TEST_F(Commit, that_has_happened_after_all_is_noticed) {
  std::optional<WriteFault> full;
  std::optional<SyncFault> fault{std::in_place, [&](const std::string& /*file*/) {
                                   full.emplace();
                                   return true;
                                 }};
  EXPECT_EQ(failure_of([&] { replace(); }).in_doubt, true);
  for (int i = 0; i < 3; ++i) EXPECT_NE(failure_of([&] { commit(); }).message, "no error");
  fault.reset();
  full.reset();
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(error_of<TaskListMismatchError>([&] { commit(); }),
                HasSubstr("belong to scheduler third, not to second, which is running"));
  }
}

// Nothing may fail after the change has happened.
TEST_F(Commit, has_not_happened_if_memory_runs_out) {
  std::uint64_t n = 0;
  for (bool failed = true; failed;) {
    store.reset();
    store = open_sqlite_store(path);
    before = store->load().records;
    const Plan plan = plan_of(before, planned("d"), planned("e"));
    const std::string scheduler = std::string(100, 'x') + std::to_string(n);
    bool threw = false;
    fail_allocation(++n);
    try {
      store->replace(plan, scheduler);
    } catch (const std::exception&) {
      threw = true;
    }
    failed = allocation_failed();
    fail_allocation(0);
    EXPECT_EQ(store->load().records == before, threw) << n;
  }
  EXPECT_GT(n, 10);
}

// When there are many schedulers, those that no record names are removed. The records decide.
TEST_F(Commit, that_failed_leaves_every_record_its_scheduler) {
  const auto preserved = [](const std::vector<TaskRecord>& records) {
    Plan plan;
    for (const TaskRecord& record : records) {
      plan.tasks.push_back(planned(record.config.name));
      plan.tasks.back().row = record.row;
      plan.tasks.back().classification = Classification::preserved;
      plan.tasks.back().changed = false;
    }
    return plan;
  };
  for (int i = 0; i < 70; ++i) {
    Plan plan = preserved(store->load().records);
    plan.tasks.push_back(planned(std::to_string(i)));
    store->replace(plan, "scheduler " + std::to_string(i));
  }
  const auto records = store->load().records;
  {
    int left = 1;
    const SyncFault fault{[&](const std::string& file) { return is_log(file) && left-- > 0; }};
    EXPECT_THROW(store->replace(plan_of(records), "another"), StoreError);
  }
  store->replace(preserved(records), "the last");
  EXPECT_EQ(store->load().records, records);
}

// The commit mark is written last, so nothing is in doubt before it.
TEST_F(Commit, is_not_in_doubt_if_it_could_not_be_written) {
  {
    const WriteFault full;
    EXPECT_EQ(failure_of([&] { replace(); }).in_doubt, false);
  }
  EXPECT_EQ(after_a_crash(), before);
}

class NoTrace : public TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

// The rejected list is not there, and a run under the previous list is an orphan.
TEST_F(Commit, that_failed_keeps_an_interrupted_run_owed) {
  store.reset();
  const Instant now = at("2025-03-04T00:00:00Z");
  const auto config = [](const std::string& name) {
    return TaskConfig{.name = name, .cron = "0 0 * * *", .retry_delay = Duration{60'000}};
  };
  NoTrace trace;
  const auto open = [&] { return open_sqlite_store(path); };
  const Calendar utc{Zone::utc()};
  const pid_t killed = fork();
  if (killed == 0) {
    Engine engine{utc, {}, open, trace};
    engine.initialize({config("x")}, now);
    _exit(engine.step(now).starts.size() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(killed, &status, 0);
  ASSERT_EQ(status, 0);
  Engine engine{utc, {}, open, trace};
  {
    const SyncFault fault{[](const std::string& /*file*/) { return true; }};
    EXPECT_EQ(failure_of([&] { engine.initialize({config("y")}, now); }).in_doubt, true);
  }
  engine.initialize({config("x")}, now + Duration{60'000});
  const auto starts = engine.step(now + Duration{60'000}).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
}

}  // namespace
}  // namespace dutiful
