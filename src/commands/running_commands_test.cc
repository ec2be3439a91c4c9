// Real processes, in a time that the tests make up.

#include "commands/running_commands.h"

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "commands/commands_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using Stage = RunningCommand::Stage;

class RunningTest : public testing::Test {
 protected:
  // Members of a group that lose their parent become children of this process.
  RunningTest() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

  RunningCommand& start(const std::string& script) {
    auto command = std::make_unique<RunningCommand>(++last_serial, run_of("task"), 100);
    RunningCommands::Place place{running, last_serial};
    command->child = spawner.spawn({.arguments = {"/bin/sh", "-c", script}}, {});
    return place.take(std::move(command));
  }
  static void await_line(const RunningCommand& command) {
    pollfd waiting{.fd = command.child.output.get(), .events = POLLIN, .revents = 0};
    std::array<char, 100> text{};
    ASSERT_EQ(poll(&waiting, 1, -1), 1);
    ASSERT_GT(read(command.child.output.get(), text.data(), text.size()), 0);
  }
  // Waits until the process ends, and passes its end on.
  void reap(pid_t process) {
    int status = 0;
    rusage usage{};
    const pid_t reaped = wait4(process, &status, 0, &usage);
    ASSERT_GT(reaped, 0);
    running.on_death(reaped, status, usage);
  }

  const RunningCommands::Time begin{1h};
  Spawner spawner;
  Serial last_serial = 1;
  std::vector<std::unique_ptr<RunningCommand>> ended;
  RunningCommands running{
      {.kill_grace = 10s, .death_max = 5s, .on_end = [this](std::unique_ptr<RunningCommand> one) {
         ended.push_back(std::move(one));
       }}};
};

TEST_F(RunningTest, asks_a_command_to_stop_at_its_limit) {
  RunningCommand& command = start("echo up; sleep 1000");
  await_line(command);
  running.limit(command, begin + 1min);
  EXPECT_EQ(running.next_deadline(), begin + 1min);
  running.enforce_deadlines(begin + 59s);
  EXPECT_EQ(command.stage, Stage::running);
  running.enforce_deadlines(begin + 1min);
  EXPECT_EQ(command.stage, Stage::terminating);
  EXPECT_EQ(running.next_deadline(), begin + 1min + 10s);
  for (reap(command.child.process); ended.empty(); running.end_dead_groups()) {
    reap(-1);  // the sleep, which may outlive the shell
  }
  EXPECT_TRUE(ended[0]->result.past_time_limit);
  EXPECT_EQ(ended[0]->result.signal, SIGTERM);
}

TEST_F(RunningTest, run_ends_with_its_command) {
  const RunningCommand& command = start("exit 3");
  EXPECT_EQ(running.find(command.serial), &command);
  EXPECT_EQ(running.next_deadline(), RunningCommand::never);

  reap(command.child.process);

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]->result.exit_status, 3);
  EXPECT_EQ(ended[0]->result.run.task, "task");
  EXPECT_FALSE(ended[0]->has_leftovers);
  EXPECT_EQ(running.find(ended[0]->serial), nullptr);
  EXPECT_TRUE(running.empty());
}

TEST_F(RunningTest, place_that_no_command_takes_is_given_back) {
  {
    const RunningCommands::Place place{running, 7};
    EXPECT_EQ(running.size(), 1U);
  }
  EXPECT_TRUE(running.empty());
  EXPECT_EQ(running.find(7), nullptr);
  EXPECT_EQ(running.next_deadline(), RunningCommand::never);
}

TEST_F(RunningTest, command_that_ignores_SIGTERM_is_killed_when_the_grace_expires) {
  RunningCommand& command = start("trap '' TERM; echo ready; exec sleep 1000");
  await_line(command);

  running.terminate(command, begin);
  running.terminate(command, begin + 1s);  // asked already: the grace is not prolonged
  EXPECT_EQ(running.next_deadline(), begin + 10s);
  running.enforce_deadlines(begin + 10s - 1ms);
  EXPECT_EQ(command.stage, Stage::terminating);
  running.enforce_deadlines(begin + 10s);
  EXPECT_EQ(command.stage, Stage::killed);
  reap(command.child.process);

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]->result.signal, SIGKILL);
  EXPECT_FALSE(ended[0]->has_leftovers);
}

TEST_F(RunningTest, command_that_is_stopped_gets_SIGTERM_all_the_same) {
  RunningCommand& command = start("exec sleep 1000");
  kill(command.child.process, SIGSTOP);
  ASSERT_EQ(waitpid(command.child.process, nullptr, WUNTRACED), command.child.process);

  running.terminate(command, begin);
  reap(command.child.process);

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]->result.signal, SIGTERM);
}

// The shell ends at SIGTERM; the other process of its group ignores it.
constexpr const char* stubborn_group = "(trap '' TERM; echo ready; exec sleep 1000) & wait";

TEST_F(RunningTest, run_that_is_asked_to_stop_ends_with_the_whole_group) {
  RunningCommand& command = start(stubborn_group);
  await_line(command);

  running.terminate(command, begin);
  reap(command.child.process);
  running.end_dead_groups();
  EXPECT_THAT(ended, IsEmpty());
  running.enforce_deadlines(begin + 10s);
  reap(-command.child.process);  // the other process
  EXPECT_THAT(ended, IsEmpty());
  running.end_dead_groups();

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]->result.signal, SIGTERM);
  EXPECT_FALSE(ended[0]->has_leftovers);
}

TEST_F(RunningTest, group_that_does_not_die_is_not_waited_for_without_end) {
  RunningCommand& command = start(stubborn_group);
  await_line(command);
  const pid_t group = command.child.process;

  running.terminate(command, begin);
  reap(group);
  running.enforce_deadlines(begin + 10s);
  running.enforce_deadlines(begin + 15s - 1ms);
  EXPECT_THAT(ended, IsEmpty());
  running.enforce_deadlines(begin + 15s);  // a dead process is in its group until it is reaped

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0]->has_leftovers);
  EXPECT_FALSE(is_group_gone(group));
  EXPECT_GT(waitpid(-group, nullptr, 0), 0);
  EXPECT_TRUE(is_group_gone(group));
}

TEST_F(RunningTest, command_itself_is_waited_for_however_long_it_takes) {
  RunningCommand& command = start("trap '' TERM; echo ready; exec sleep 1000");
  await_line(command);

  running.terminate(command, begin);
  running.enforce_deadlines(begin + 10s);
  running.enforce_deadlines(begin + 15s);
  running.enforce_deadlines(begin + 20s);
  EXPECT_THAT(ended, IsEmpty());
  EXPECT_EQ(running.next_deadline(), begin + 25s);
  reap(command.child.process);

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_FALSE(ended[0]->has_leftovers);
}

TEST_F(RunningTest, next_deadline_is_the_earliest) {
  RunningCommand& first = start("exec sleep 1000");
  RunningCommand& second = start("exec sleep 1000");
  const pid_t first_process = first.child.process;
  running.terminate(first, begin + 1s);
  running.terminate(second, begin);
  EXPECT_EQ(running.next_deadline(), begin + 10s);
  reap(second.child.process);
  EXPECT_EQ(running.next_deadline(), begin + 11s);
  reap(first_process);
  EXPECT_EQ(running.next_deadline(), RunningCommand::never);
}

TEST_F(RunningTest, all_groups_are_killed_at_once) {
  const pid_t process = start("exec sleep 1000").child.process;
  running.kill_all();
  reap(process);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0]->result.signal, SIGKILL);
}

}  // namespace
}  // namespace dutiful
