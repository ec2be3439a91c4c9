#include "commands/spawn.h"

#include <csignal>
#include <exception>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "leftovers/kill_leftovers.h"
#include "support/few_descriptors.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

// Killed processes die long before, however busy the host is.
constexpr Duration patience = 1min;

TEST(Spawner, says_that_no_descriptor_is_left) {
  Spawner spawner;
  const Command command{.arguments = {"/bin/true"}};
  std::exception_ptr thrown;  // looked at later: UBSan needs a descriptor for that itself

  try {
    const FewDescriptors none{0};
    (void)spawner.spawn(command, {});
  } catch (...) {
    thrown = std::current_exception();
  }

  ASSERT_TRUE(thrown);
  try {
    std::rethrow_exception(thrown);
  } catch (const SpawnError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("cannot get a pipe for its output: Too many open files"),
                      HasSubstr("--max-concurrent")));
  }
}

TEST(Spawner, has_commands_enter_themselves_in_the_journal) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  DaemonJournal journal{state};
  (void)journal.enter("us");
  journal.keep_only("us");
  Spawner spawner;
  const auto spawn = [&](const JournalLine& line) {
    return spawner.spawn({.arguments = {"/bin/sleep", "1000"}}, {}, line).process;
  };
  const JournalLine first_line = journal.add();
  const JournalLine second_line = journal.add();
  const pid_t first = spawn(first_line);
  const pid_t second = spawn(second_line);
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  journal.remove(first_line);

  const auto before = DaemonJournal{state}.enter("next");
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(before[0].commands.size(), 1U);
  EXPECT_EQ(before[0].commands[0].process, second);
  EXPECT_EQ(kill_leftovers(before, {}, patience).count, 1U);
  EXPECT_EQ(waitpid(second, nullptr, 0), second);

  // The next daemon has replaced the file.
  EXPECT_THROW((void)journal.add(), std::runtime_error);
}

// As when a disk does not respond: the command was killed with its group, and a part of the group
// does not die.
TEST(Spawner, has_sessions_that_outlive_their_command_stay_in_the_journal) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  DaemonJournal journal{state};
  (void)journal.enter("us");
  journal.keep_only("us");
  const JournalLine line = journal.add();
  Spawner spawner;
  const pid_t process =
      spawner.spawn({.arguments = {"/bin/sh", "-c", "sleep 1000 & exit 0"}}, {}, line).process;
  EXPECT_EQ(waitpid(process, nullptr, 0), process);
  DaemonJournal::keep(line, process);

  const auto before = DaemonJournal{state}.enter("next");
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(before[0].commands.size(), 1U);
  EXPECT_EQ(before[0].commands[0].process, process);
  EXPECT_TRUE(before[0].commands[0].has_ended);
  EXPECT_EQ(kill_leftovers(before, {}, patience).count, 1U);
}

}  // namespace
}  // namespace dutiful
