#include "store/sqlite/holder.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "store/sqlite/ownership.h"
#include "store/sqlite/state_file.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using Answer = HolderStatus::Answer;

class Holding : public testing::Test {
 protected:
  TemporaryDirectory directory;
  std::string state = directory.file("state.db");

  // A process that holds the state and is killed.
  pid_t hold_and_be_killed() const {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const Ownership held{state};
      (void)!write(ready[1], "x", 1);
      while (true) pause();
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(read_holder_status(state).answer, Answer::held);
    EXPECT_EQ(read_holder_status(state).holder.value().process, child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    return child;
  }
};

TEST_F(Holding, is_visible_to_others_from_beginning_to_end) {
  EXPECT_EQ(read_holder_status(state), HolderStatus{});
  {
    const Instant before = std::chrono::floor<Duration>(std::chrono::system_clock::now());
    const Ownership held{state};
    const HolderStatus status = read_holder_status(state);
    EXPECT_EQ(status.answer, Answer::held);
    ASSERT_TRUE(status.holder);
    EXPECT_EQ(status.holder->process, getpid());
    EXPECT_GE(status.holder->since, before);
    EXPECT_EQ(status.holder->host, host_name());
  }
  EXPECT_EQ(read_holder_status(state), HolderStatus{});  // it ended normally, so no name is left
}

TEST_F(Holding, ends_with_its_process_and_leaves_its_name) {
  const pid_t killed = hold_and_be_killed();
  const HolderStatus status = read_holder_status(state);
  EXPECT_EQ(status.answer, Answer::free);
  ASSERT_TRUE(status.holder);
  EXPECT_EQ(status.holder->process, killed);
}

TEST_F(Holding, is_not_assumed_because_a_process_has_the_same_number) {
  const Holder us{.process = getpid(), .since = at("2025-03-03T10:00:00Z"), .host = "here"};
  std::ofstream{owner_file_of(state)} << to_text(us);
  const HolderStatus status = read_holder_status(state);
  EXPECT_EQ(status.answer, Answer::free);
  EXPECT_EQ(status.holder, us);
}

TEST_F(Holding, is_visible_through_a_link) {
  std::ofstream{state} << "";
  std::filesystem::create_symlink(state, directory.file("link.db"));
  const Ownership held{state};
  EXPECT_EQ(read_holder_status(directory.file("link.db")).answer, Answer::held);
}

// Even before the link's target exists.
TEST_F(Holding, is_visible_through_a_link_made_before_its_target) {
  std::filesystem::create_directory(directory.file("data"));
  const std::string target = directory.file("data/real.db");
  std::filesystem::create_symlink("data/real.db", state);
  std::filesystem::create_symlink("state.db", directory.file("link.db"));
  const std::string link = directory.file("link.db");
  EXPECT_EQ(resolve_state(link), std::filesystem::weakly_canonical(target));
  const std::string before = file_beside(link, "-history");
  const Ownership held{link};
  EXPECT_TRUE(std::filesystem::exists(target));
  for (const std::string& name : {link, state, target}) {
    EXPECT_EQ(read_holder_status(name).answer, Answer::held) << name;
    EXPECT_EQ(file_beside(name, "-history"), before) << name;
  }
}

TEST_F(Holding, is_impossible_through_a_cycle_of_links) {
  std::filesystem::create_symlink("link.db", state);
  std::filesystem::create_symlink("state.db", directory.file("link.db"));
  EXPECT_THROW(Ownership{state}, StoreError);
}

TEST_F(Holding, is_not_prevented_by_readers) {
  std::atomic<bool> done = false;
  std::atomic<int> asked = 0;
  std::thread asking{[&] {
    while (!done) {
      (void)read_holder_status(state);
      ++asked;
    }
  }};
  for (int times = 0; times < 300 || asked < 300; ++times) {
    ASSERT_NO_THROW(Ownership{state}) << times;
  }
  done = true;
  asking.join();
}

// What several processes have seen, in shared memory.
struct Seen {
  std::atomic<int> holders = 0;
  std::atomic<int> times = 0;
  std::atomic<int> overlaps = 0;
  std::atomic<int> without_name = 0;
  std::atomic<int> without_state = 0;
};

// At most this many times, and not longer than this if the machine is busy and a yield is slow.
constexpr int times_each = 600;
constexpr std::chrono::seconds time_each{3};

void hold_again_and_again(const std::string& state, Seen& seen) {
  const auto end = std::chrono::steady_clock::now() + time_each;
  for (int times = 0; times < times_each && std::chrono::steady_clock::now() < end;) {
    try {
      const Ownership held{state};
      if (++seen.holders != 1) ++seen.overlaps;
      if (read_holder_status(state).answer != Answer::held) ++seen.without_name;
      // As someone does who cleans up. From now on others get as far as the state.
      unlink(owner_file_of(state).c_str());
      for (int others = 0; others < 5; ++others) std::this_thread::yield();
      if (!std::filesystem::exists(state)) ++seen.without_state;
      ++seen.times;
      ++times;
      --seen.holders;
      unlink(state.c_str());
    } catch (const StateHeldError&) {
      std::this_thread::yield();
    }
  }
}

// A process that gives up removes the files it created, perhaps while another is about to lock
// them. The holder of the state always holds the files that exist.
TEST_F(Holding, is_exclusive_even_while_others_remove_files) {
  void* shared =
      mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Seen& seen = *new (shared) Seen;
  std::vector<pid_t> processes;
  for (int i = 0; i < 3; ++i) {
    processes.push_back(fork());
    if (processes.back() == 0) {
      try {
        hold_again_and_again(state, seen);
      } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        _exit(1);
      }
      _exit(0);
    }
  }
  // Each process is stopped at an arbitrary point, such as between opening a file and locking it,
  // while the others continue.
  for (int stops = 0; !processes.empty(); ++stops) {
    const auto process = processes.begin() + stops % std::ssize(processes);
    kill(*process, SIGSTOP);
    for (int others = 0; others < 20; ++others) std::this_thread::yield();
    kill(*process, SIGCONT);
    std::this_thread::yield();
    int status = -1;
    if (waitpid(*process, &status, WNOHANG) == 0) continue;
    EXPECT_EQ(status, 0);
    processes.erase(process);
  }
  EXPECT_GT(seen.times, 0);
  EXPECT_EQ(seen.overlaps, 0);
  EXPECT_EQ(seen.without_name, 0);
  EXPECT_EQ(seen.without_state, 0);
  munmap(shared, sizeof(Seen));
}

TEST_F(Holding, removes_the_files_that_it_created_and_no_one_used) {
  { const Ownership held{state}; }
  EXPECT_TRUE(std::filesystem::is_empty(directory.file("")));
}

TEST_F(Holding, keeps_files_that_existed_or_are_not_empty_or_have_a_log) {
  std::ofstream{state} << "";
  { const Ownership held{state}; }
  EXPECT_TRUE(std::filesystem::exists(state));

  const std::string written = directory.file("written.db");
  {
    const Ownership held{written};
    std::ofstream{written} << "x";
  }
  EXPECT_TRUE(std::filesystem::exists(written));

  const std::string logged = directory.file("logged.db");
  {
    const Ownership held{logged};
    std::ofstream{logged + "-wal"} << "x";
  }
  EXPECT_TRUE(std::filesystem::exists(logged));
}

// Destroyed after everything that is created in main().
std::optional<Ownership> held_to_the_end;

TEST_F(Holding, may_last_until_globals_are_destroyed) {
  const auto hold_and_exit = [&] {
    held_to_the_end.emplace(state);
    std::exit(0);
  };
  EXPECT_EXIT(hold_and_exit(), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory.file("")));
}

// In a separate process, because examining the state's own lock closes a descriptor of the state.
TEST_F(Holding, is_visible_without_the_file_that_names_the_holder) {
  Ownership held{state};
  held.confirm();
  std::filesystem::remove(owner_file_of(state));
  const pid_t reader = fork();
  if (reader == 0) {
    const HolderStatus status = read_holder_status(state);
    _exit(status.answer == Answer::held && !status.holder ? 0 : 1);
  }
  int status = 0;
  waitpid(reader, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Holding, may_be_hidden_by_permissions) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  {
    Ownership held{state};
    held.confirm();
  }
  chmod(directory.file("").c_str(), 0755);
  chmod(owner_file_of(state).c_str(), 0600);
  const pid_t reader = fork();
  if (reader == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const HolderStatus status = read_holder_status(state);
    const bool explained =
        status.trouble.find("Permission denied; run this command as root") != std::string::npos;
    _exit(status.answer == Answer::unknown && explained ? 0 : 1);
  }
  int status = 0;
  waitpid(reader, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Holder, is_read_as_it_was_written) {
  const Holder holder{.process = 1, .since = at("2025-03-03T10:00:00.250Z"), .host = "a on b"};
  EXPECT_EQ(to_text(holder), "process 1 since 2025-03-03T10:00:00.250Z on a on b");
  EXPECT_EQ(parse_holder(to_text(holder)), holder);
  const Holder nowhere{.process = 99, .since = at("2025-03-03T10:00:00Z")};
  EXPECT_EQ(parse_holder(to_text(nowhere)), nowhere);
}

TEST(Holder, is_not_read_from_other_text) {
  for (const char* text : {"",
                           "process",
                           "process x since 2025-03-03T10:00:00.000Z",
                           "process 1",
                           "process 1 since",
                           "process 1 since yesterday on a",
                           "process 1 since 2025-03-03T10:00:00.000",
                           "process 99999999999999999999 since 2025-03-03T10:00:00.000Z"}) {
    EXPECT_EQ(parse_holder(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace dutiful
