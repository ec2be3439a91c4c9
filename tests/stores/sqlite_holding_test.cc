// P6: one process holds a state at a time, under whichever name; a rejected one holds nothing.

#include <filesystem>
#include <fstream>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite/holder.h"
#include "stores/sqlite_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(Sqlite, names_the_process_that_holds_the_state) {
  const auto held = open_sqlite_store(path);
  EXPECT_THAT(error_of<StateHeldError>([&] { (void)open_sqlite_store(path); }),
              HasSubstr("is in use by process " + std::to_string(getpid()) + " since 20"));
}

TEST_F(Sqlite, is_one_state_whichever_link_leads_to_it) {
  make_state();
  std::filesystem::create_symlink(path, directory.file("link.db"));
  const auto held = open_sqlite_store(path);
  EXPECT_THROW((void)open_sqlite_store(directory.file("link.db")), StateHeldError);
}

TEST_F(Sqlite, is_one_state_through_a_hard_link) {
  make_state();
  const std::string other = directory.file("hard.db");
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();  // shares nothing that this process opens from now on
  if (child == 0) {
    char byte = 0;
    (void)!read(go[0], &byte, 1);
    const bool is_held = error_of<StateHeldError>([&] {
                           (void)open_sqlite_store(other);
                         }).ends_with("or use another state");
    tamper("SELECT name FROM task");
    _exit(is_held ? 0 : 1);
  }
  const auto held = open_sqlite_store(path);
  held->replace(plan_of(held->load().records), "us");
  std::filesystem::create_hard_link(path, other);
  EXPECT_THROW((void)open_sqlite_store(other), StateHeldError);

  (void)!write(go[1], "x", 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  // The last connection to close a database removes its log. The log is still there, so SQLite's
  // own locks have outlived the rejected one.
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
  close(go[0]);
  close(go[1]);
}

// The log of the other name may contain commits, if a scheduler was killed.
TEST_F(Sqlite, rejects_a_file_with_several_names) {
  make_state();
  const std::string other = directory.file("hard.db");
  std::filesystem::create_hard_link(path, other);
  for (const std::string& name : {path, other}) {
    EXPECT_THAT(
        error_of<StoreError>([&] { (void)open_sqlite_store(name); }),
        AllOf(HasSubstr(name + "\" has several names"), HasSubstr("remove the other names")));
  }
  std::filesystem::remove(other);
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
}

// A rejected scheduler leaves everything as it was (RULES I2, P6).
TEST_F(Sqlite, creates_nothing_beside_a_file_that_it_rejects) {
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator{directory.file("")}) {
      names.insert(file.path().filename());
    }
    return names;
  };
  tamper("CREATE TABLE theirs (x)");
  EXPECT_THAT(open_error(), HasSubstr("is a database of another program"));
  EXPECT_THAT(files(), testing::ElementsAre("state.db"));

  std::filesystem::remove(path);
  make_state();
  std::filesystem::remove(path + "-owner");
  std::filesystem::create_hard_link(path, directory.file("hard.db"));
  EXPECT_THAT(open_error(), HasSubstr("has several names"));
  EXPECT_THAT(files(), testing::ElementsAre("hard.db", "state.db"));

  std::filesystem::remove(directory.file("hard.db"));
  tamper("PRAGMA user_version = 4");
  EXPECT_THAT(open_error(), HasSubstr("was written by a newer dutiful"));
  EXPECT_THAT(files(), testing::ElementsAre("state.db"));
}

TEST_F(Sqlite, keeps_the_owner_file_when_it_rejects_a_state) {
  make_state();
  tamper("PRAGMA user_version = 4");
  EXPECT_THAT(open_error(), HasSubstr("was written by a newer dutiful"));
  EXPECT_TRUE(std::filesystem::exists(path + "-owner"));
}

// Once it is a database, others may be using it, so no one removes it.
TEST_F(Sqlite, leaves_an_empty_state_after_only_opening_it) {
  EXPECT_TRUE(open_sqlite_store(path)->load().records.empty());
  EXPECT_TRUE(read_sqlite_state(path).empty());
  EXPECT_FALSE(std::filesystem::exists(path + "-owner"));
}

TEST_F(Sqlite, can_be_held_while_another_reads_an_empty_state) {
  int go[2];
  int ready[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(ready), 0);
  const pid_t reader = fork();  // shares nothing that this process opens from now on
  if (reader == 0) {
    close(go[1]);
    char byte = 0;
    (void)!read(go[0], &byte, 1);
    sqlite3* database = nullptr;
    sqlite3_open(path.c_str(), &database);
    const int code = sqlite3_exec(database, "SELECT name FROM task", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) _exit(1);
    (void)!write(ready[1], "x", 1);
    (void)!read(go[0], &byte, 1);  // until the other end is closed
    _exit(0);
  }
  close(ready[1]);
  {
    const auto store = open_sqlite_store(path);
    (void)!write(go[1], "x", 1);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
  }
  EXPECT_EQ(error_of<StoreError>([&] { make_state(); }), "no error");
  close(go[1]);
  int status = -1;
  waitpid(reader, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_sqlite_state(path).size(), 2);
  close(go[0]);
  close(ready[0]);
}

TEST_F(Sqlite, keeps_what_another_wrote_into_an_empty_state) {
  {
    const auto store = open_sqlite_store(path);
    tamper("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  }
  EXPECT_EQ(query("SELECT x FROM theirs"), std::vector<std::string>{"1"});
}

// Removing the lock file does not make the state free.
TEST_F(Sqlite, stays_held_if_the_file_that_names_the_holder_is_removed) {
  make_state();
  AnotherHolder holder{path};
  std::filesystem::remove(path + "-owner");
  EXPECT_THAT(error_of<StateHeldError>([&] { (void)open_sqlite_store(path); }),
              HasSubstr("is in use by another process"));
  holder.be_killed();
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
}

// The killed holder is reported until another has really taken the state, not only tried to.
TEST_F(Sqlite, names_the_killed_holder_until_another_takes_over) {
  make_state();
  const Holder killed{.process = 4321, .since = at("2025-03-03T10:00:00Z"), .host = "here"};
  std::ofstream{owner_file_of(path)} << to_text(killed);
  tamper("UPDATE progress SET state = 7 WHERE task = 1");
  {
    const auto store = open_sqlite_store(path);
    EXPECT_THROW((void)store->load(), TaskInvalidValueError);
    EXPECT_EQ(read_holder_status(path).holder.value().process, getpid());
  }
  EXPECT_EQ(read_holder_status(path).holder, killed);
  tamper("PRAGMA user_version = 4");
  EXPECT_THROW((void)open_sqlite_store(path), StoreError);
  EXPECT_EQ(read_holder_status(path).holder, killed);
  tamper("PRAGMA user_version = 3; UPDATE progress SET state = 0");
  {
    const auto store = open_sqlite_store(path);
    store->replace(plan_of(store->load().records), "us");
  }
  EXPECT_EQ(read_holder_status(path), HolderStatus{});
}

// P1: a write to a file that no one can open again is not durable.
TEST_F(Sqlite, records_nothing_while_one_of_its_files_is_missing) {
  for (const std::string suffix : {"", "-wal", "-shm", "-owner"}) {
    SCOPED_TRACE(suffix);
    TemporaryDirectory elsewhere;
    const std::string state = elsewhere.file("state.db");
    const std::string file = state + suffix;
    const auto store = open_sqlite_store(state);
    const auto rows = store->replace(plan_of({}, planned("a")), "us");
    const RowUpdate update{rows[0], {}};
    store->commit({{update}});

    std::filesystem::rename(file, elsewhere.file("away"));
    EXPECT_THAT(error_of<StoreError>([&] { store->commit({{update}}); }),
                AllOf(HasSubstr(file + "\" was removed"), HasSubstr("put it back, or restart")));
    std::ofstream{file} << "";
    EXPECT_THAT(error_of<StoreError>([&] { store->commit({{update}}); }),
                HasSubstr(file + "\" was replaced"));
    std::filesystem::rename(elsewhere.file("away"), file);
    store->commit({{update}});
  }
}

// The lock dies with its process, however it ends.
TEST_F(Sqlite, is_free_again_when_its_holder_is_killed) {
  make_state();
  AnotherHolder holder{path};
  EXPECT_THROW((void)open_sqlite_store(path), StateHeldError);
  holder.be_killed();
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
}

}  // namespace
}  // namespace dutiful
