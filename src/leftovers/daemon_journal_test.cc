#include "leftovers/daemon_journal.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "leftovers/leftovers_in_test.h"
#include "support/disk_faults.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

// An older daemon made the file with its umask, so another user may have written any process.
TEST(DaemonJournal, believes_no_commands_that_another_user_could_have_written) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string file = state + "-commands";
  const std::string text = "a " + process_space() + " 999999999 1\n@      1234 1 2\n";
  for (const auto& [mode, commands] : {std::pair{0666, 0U}, {0660, 0U}, {0644, 1U}}) {
    std::ofstream{file} << text;
    ASSERT_EQ(chmod(file.c_str(), static_cast<mode_t>(mode)), 0);
    const std::vector<PreviousDaemon> before = DaemonJournal{state}.enter("b");
    ASSERT_EQ(before.size(), 1U);
    EXPECT_EQ(before[0].name, "a");
    EXPECT_EQ(before[0].commands.size(), commands) << mode;
    std::filesystem::remove(file);
  }
}

TEST(DaemonJournal, refuses_a_state_whose_daemon_still_lives) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const Abandoned daemon;
  std::ofstream{state + "-commands"} << "name " << process_space() << ' ' << daemon.member << ' '
                                     << daemon.born << '\n';
  try {
    DaemonJournal{state}.enter("a");
    FAIL() << "it was taken for dead";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("process " + std::to_string(daemon.member) + " still uses"));
  }
  // Another process with the same number.
  std::ofstream{state + "-commands"} << "name " << process_space() << ' ' << daemon.member << ' '
                                     << daemon.born - 1 << '\n';
  EXPECT_EQ(DaemonJournal{state}.enter("a").size(), 1U);
}

TEST(DaemonJournal, takes_over_from_a_dead_daemon_that_nobody_has_waited_for) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const pid_t daemon = fork();
  if (daemon == 0) _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(daemon), &ended, WEXITED | WNOWAIT), 0);
  std::ofstream{state + "-commands"} << "name " << process_space() << ' ' << daemon << ' '
                                     << find_process(daemon).value().start << '\n';
  EXPECT_EQ(DaemonJournal{state}.enter("a").size(), 1U);
  EXPECT_EQ(waitpid(daemon, nullptr, 0), daemon);
}

TEST(DaemonJournal, that_cannot_be_read_is_not_taken_for_empty) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  ASSERT_EQ(mkdir((state + "-commands").c_str(), 0700), 0);  // opens, and cannot be read
  try {
    DaemonJournal{state}.enter("a");
    FAIL() << "it was taken for empty";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                EndsWith("-commands\" is a directory; move it away, but first kill the commands of "
                         "the previous daemon, which may still run"));
  }
}

TEST(DaemonJournal, that_is_a_link_is_refused_with_one_remedy) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  ASSERT_EQ(symlink("elsewhere", (state + "-commands").c_str()), 0);
  try {
    DaemonJournal{state}.enter("a");
    FAIL() << "the link was followed";
  } catch (const StoreError& error) {
    EXPECT_THAT(
        error.what(),
        EndsWith("-commands\" is a symbolic link, which is not followed; put the file itself "
                 "in its place, or remove it, but first kill the commands of the previous "
                 "daemon, which may still run"));
  }
}

TEST(DaemonJournal, that_is_damaged_is_not_taken_for_empty) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string file = state + "-commands";
  for (const std::string damaged : {"", "\n", "\x1f\x8b a\n\xff\xfe\n", "@1 2 3\n"}) {
    std::ofstream{file, std::ios::trunc} << damaged;
    try {
      DaemonJournal{state}.enter("a", true);
      FAIL() << "it was taken for empty: " << damaged;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr('"' + file + "\" is damaged"), HasSubstr("remove the file")));
    }
  }
  // A power cut may cause that, and then its commands no longer exist.
  const std::array<timespec, 2> long_ago{
      {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), long_ago.data(), 0), 0);
  DaemonJournal{state}.enter("a", true);
  // Now it names a daemon.
  EXPECT_FALSE(DaemonJournal{state}.enter("b", true).empty());
  DaemonJournal{state}.clear();
  EXPECT_TRUE(DaemonJournal{state}.enter("c", true).empty());
}

TEST(DaemonJournal, that_cannot_be_written_is_left_as_it_was) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  {
    const WriteFault full;
    try {
      DaemonJournal{state}.enter("a");
      ADD_FAILURE() << "it was written";
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr("-commands\" cannot be written: File too large"));
    }
  }
  EXPECT_EQ(access((state + "-commands").c_str(), F_OK), -1);
  struct stat next {};
  EXPECT_EQ(lstat((state + "-commands-next").c_str(), &next), -1);
}

TEST(DaemonJournal, keeps_names_until_their_processes_no_longer_exist) {
  TemporaryDirectory directory;
  DaemonJournal journal{directory.file("state.db")};
  const auto enter = [&](const std::string& name) {
    std::string before;
    for (const PreviousDaemon& previous : journal.enter(name)) before += previous.name;
    return before;
  };
  EXPECT_EQ(enter("a"), "");
  EXPECT_EQ(enter("b"), "a");
  EXPECT_EQ(enter("c"), "ab");
  journal.keep_only("c");
  EXPECT_EQ(enter("d"), "c");
  journal.clear();
  EXPECT_EQ(enter("e"), "");
}

}  // namespace
}  // namespace dutiful
