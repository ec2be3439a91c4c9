// P6: a state is held by one at a time, by whatever name, and by nobody who was refused.

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

TEST_F(Sqlite, is_one_state_by_whatever_link_it_is_reached) {
  make_state();
  std::filesystem::create_symlink(path, directory.file("link.db"));
  const auto held = open_sqlite_store(path);
  EXPECT_THROW((void)open_sqlite_store(directory.file("link.db")), StateHeldError);
}

TEST_F(Sqlite, is_one_state_by_a_hard_link_too) {
  make_state();
  const std::string other = directory.file("hard.db");
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();  // which knows nothing of what this process opens from now on
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
  // Whoever closes a database as the last one removes its log. Nobody was, so SQLite's own locks
  // have outlived the one that was refused.
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
  close(go[0]);
  close(go[1]);
}

// What is committed may be in the log of the other name, as a scheduler leaves it that is killed.
TEST_F(Sqlite, is_not_taken_by_one_of_several_names) {
  make_state();
  const std::string other = directory.file("hard.db");
  std::filesystem::create_hard_link(path, other);
  for (const std::string& name : {path, other}) {
    EXPECT_THAT(error_of<StoreError>([&] { (void)open_sqlite_store(name); }),
                AllOf(HasSubstr(name + "\" has several names"), HasSubstr("remove the others")));
  }
  std::filesystem::remove(other);
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
}

// Who is refused leaves everything as it was (RULES I2, P6).
TEST_F(Sqlite, leaves_nothing_beside_what_it_refuses) {
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
  tamper("PRAGMA user_version = 3");
  EXPECT_THAT(open_error(), HasSubstr("was written by a newer dutiful"));
  EXPECT_THAT(files(), testing::ElementsAre("state.db"));
}

TEST_F(Sqlite, leaves_the_name_of_a_clean_end_where_it_is_refused) {
  make_state();
  tamper("PRAGMA user_version = 3");
  EXPECT_THAT(open_error(), HasSubstr("was written by a newer dutiful"));
  EXPECT_TRUE(std::filesystem::exists(path + "-owner"));
}

// Once it is a database, others may be at work on it: nobody removes it under them.
TEST_F(Sqlite, leaves_a_state_without_tasks_where_it_was_only_opened) {
  EXPECT_TRUE(open_sqlite_store(path)->load().records.empty());
  EXPECT_TRUE(read_sqlite_state(path).empty());
  EXPECT_FALSE(std::filesystem::exists(path + "-owner"));
}

TEST_F(Sqlite, can_be_taken_while_another_reads_what_was_only_opened) {
  int go[2];
  int ready[2];
  ASSERT_EQ(pipe(go), 0);
  ASSERT_EQ(pipe(ready), 0);
  const pid_t reader = fork();  // which knows nothing of what this process opens from now on
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

TEST_F(Sqlite, leaves_what_another_has_written_into_what_was_only_opened) {
  {
    const auto store = open_sqlite_store(path);
    tamper("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  }
  EXPECT_EQ(query("SELECT x FROM theirs"), std::vector<std::string>{"1"});
}

// Removal of the lock's file lets nobody in.
TEST_F(Sqlite, is_held_also_where_the_file_that_names_the_holder_is_removed) {
  make_state();
  AnotherHolder holder{path};
  std::filesystem::remove(path + "-owner");
  EXPECT_THAT(error_of<StateHeldError>([&] { (void)open_sqlite_store(path); }),
              HasSubstr("is in use by another process"));
  holder.be_killed();
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
}

// Who was killed is told until another has really taken the state, not only tried to.
TEST_F(Sqlite, remembers_who_was_killed_until_another_has_taken_it) {
  make_state();
  const Holder killed{.process = 4321, .since = at("2025-03-03T10:00:00Z"), .host = "here"};
  std::ofstream{owner_file_of(path)} << to_text(killed);
  tamper("UPDATE progress SET state = 7 WHERE task = 1");
  {
    const auto store = open_sqlite_store(path);
    EXPECT_THROW((void)store->load(), TaskInvalidValueError);
    EXPECT_EQ(read_service(path).holder.value().process, getpid());
  }
  EXPECT_EQ(read_service(path).holder, killed);
  tamper("PRAGMA user_version = 3");
  EXPECT_THROW((void)open_sqlite_store(path), StoreError);
  EXPECT_EQ(read_service(path).holder, killed);
  tamper("PRAGMA user_version = 2; UPDATE progress SET state = 0");
  {
    const auto store = open_sqlite_store(path);
    store->replace(plan_of(store->load().records), "us");
  }
  EXPECT_EQ(read_service(path), Service{});
}

// P1: what is written to a file that nobody can open again is not durable.
TEST_F(Sqlite, records_nothing_while_a_file_of_it_is_gone) {
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

// The lock dies with its process, however that ends.
TEST_F(Sqlite, is_free_again_when_its_holder_is_killed) {
  make_state();
  AnotherHolder holder{path};
  EXPECT_THROW((void)open_sqlite_store(path), StateHeldError);
  holder.be_killed();
  EXPECT_EQ(open_sqlite_store(path)->load().records.size(), 2);
}

}  // namespace
}  // namespace dutiful
