// Which processes count as leftovers of a daemon, and that they are killed.

#include "leftovers/kill_leftovers.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leftovers/leftovers_in_test.h"
#include "leftovers/marks.h"
#include "posix/random_name.h"
#include "support/few_descriptors.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// Killed processes die long before, however busy the host is.
constexpr Duration patience = 1min;

TEST(Leftovers, are_found_by_the_name_of_their_daemon_and_the_fence_of_their_run) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const std::string mine = random_name();
  const auto start_one = [&](const std::string& instance, const char* fence) {
    const pid_t process = fork();
    if (process == 0) {
      setenv(instance_variable, instance.c_str(), 1);
      setenv(fence_variable, fence, 1);
      // Forks twice and leaves the session; only then does it write.
      execl("/bin/sh",
            "sh",
            "-c",
            ("(setsid sh -c 'echo >&" + std::to_string(pipe_ends[1]) +
             "; exec sleep 1000' &) ; exec sleep 1000")
                .c_str(),
            nullptr);
      _exit(127);
    }
    char written = 0;
    EXPECT_EQ(read(pipe_ends[0], &written, 1), 1);
    return process;
  };
  const pid_t left = start_one(mine, "12");
  const pid_t other = start_one("another", "12");
  const pid_t finished = start_one(mine, "1");

  const KilledLeftovers killed = kill_leftovers({{.name = mine}}, {11, 12}, patience);
  EXPECT_GE(killed.count, 2U);
  EXPECT_THAT(killed.remaining, testing::IsEmpty());
  EXPECT_EQ(waitpid(left, nullptr, 0), left);
  EXPECT_EQ(waitpid(other, nullptr, WNOHANG), 0);
  EXPECT_EQ(waitpid(finished, nullptr, WNOHANG), 0);
  EXPECT_EQ(kill_leftovers({{.name = mine}}, {}, patience).count, 0U);

  EXPECT_GE(kill_leftovers({{.name = "another"}}, {12}, patience).count, 2U);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
  EXPECT_GE(kill_leftovers({{.name = mine}}, {1}, patience).count, 2U);
  EXPECT_EQ(waitpid(finished, nullptr, 0), finished);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(Leftovers, are_found_by_their_session_only_if_it_must_be_theirs) {
  const Abandoned abandoned;
  // The number may have been given to another session after the daemon's death.
  PreviousDaemon too_early = abandoned.daemon_that_lived_until(abandoned.born - 1);
  EXPECT_EQ(kill_leftovers({too_early}, {}, patience).count, 0U);
  // The number means nothing on another host, or after a reboot.
  PreviousDaemon elsewhere = abandoned.daemon_that_lived_until(abandoned.born);
  elsewhere.space = "another";
  EXPECT_EQ(kill_leftovers({elsewhere}, {}, patience).count, 0U);

  EXPECT_EQ(kill_leftovers({abandoned.daemon_that_lived_until(abandoned.born)}, {}, patience).count,
            1U);
}

// After a command has ended, its daemon lives on, and the number of its session may be given to
// another.
TEST(Leftovers, of_a_command_that_has_ended_were_born_before_its_end) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const auto left_by = [&](const Abandoned& one, Ticks until) {
    std::ofstream{state + "-commands", std::ios::trunc}
        << "name " << process_space() << " 1 1\n!" << one.session << " 1 " << until << "\n@0 0 "
        << one.born + 1000 << '\n';
    return DaemonJournal{state}.enter("a");
  };
  const Abandoned abandoned;
  EXPECT_EQ(kill_leftovers(left_by(abandoned, abandoned.born - 1), {}, patience).count, 0U);
  EXPECT_EQ(kill_leftovers(left_by(abandoned, abandoned.born), {}, patience).count, 1U);
}

TEST(Leftovers, that_are_in_the_journal_lead_a_session_and_were_born_when_it_says) {
  const auto start_one = [](bool leads) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (leads) setsid();
      if (write(ends[1], "x", 1) != 1) _exit(1);
      while (true) pause();
    }
    char written = 0;
    EXPECT_EQ(read(ends[0], &written, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return process;
  };
  const pid_t member = start_one(false);
  const pid_t leader = start_one(true);
  const auto killed = [](pid_t process, Ticks not_before, Ticks not_after, Ticks daemon_start = 0) {
    const PreviousDaemon previous{
        .name = random_name(),
        .space = process_space(),
        .start = daemon_start,
        .alive_until = ticks_now(),
        .commands = {{.process = process, .not_before = not_before, .not_after = not_after}}};
    return kill_leftovers({previous}, {}, patience).count;
  };
  EXPECT_EQ(killed(member, 0, ticks_now()), 0U);
  const Ticks born = find_process(leader).value().start;
  EXPECT_EQ(killed(leader, 0, born - 1), 0U);
  EXPECT_EQ(killed(leader, born + 1, born + 1000), 0U);
  EXPECT_EQ(killed(leader, 0, born + 1000, 1), 0U);  // from before its daemon
  EXPECT_EQ(killed(leader, born, born), 1U);
  EXPECT_EQ(waitpid(leader, nullptr, 0), leader);
  EXPECT_EQ(waitpid(member, nullptr, WNOHANG), 0);
  kill(member, SIGKILL);
  EXPECT_EQ(waitpid(member, nullptr, 0), member);
}

TEST(Leftovers, are_all_killed_even_if_they_outnumber_the_free_descriptors) {
  const std::string name = random_name();
  std::string instance = std::string{instance_variable} + '=' + name;
  std::string fence = std::string{fence_variable} + "=7";
  const std::array environment{instance.data(), fence.data(), static_cast<char*>(nullptr)};
  std::string program = "sleep";
  std::string seconds = "1000";
  const std::array arguments{program.data(), seconds.data(), static_cast<char*>(nullptr)};
  std::array<pid_t, 20> left{};
  for (pid_t& process : left) {
    ASSERT_EQ(
        posix_spawn(&process, "/bin/sleep", nullptr, nullptr, arguments.data(), environment.data()),
        0);
  }
  {
    const FewDescriptors few{8};
    const KilledLeftovers killed = kill_leftovers({{.name = name}}, {7}, patience);
    EXPECT_EQ(killed.count, left.size());
    EXPECT_THAT(killed.remaining, testing::IsEmpty());
  }
  for (const pid_t process : left) {
    kill(process, SIGKILL);
    EXPECT_EQ(waitpid(process, nullptr, 0), process);
  }
}

TEST(Leftovers, that_cannot_be_seen_without_a_descriptor_are_not_taken_for_dead) {
  for (const rlim_t left : {rlim_t{0}, rlim_t{1}}) {
    const FewDescriptors few{left};
    EXPECT_THROW((void)kill_leftovers({{.name = random_name()}}, {}, patience), std::system_error);
  }
  const FewDescriptors none{0};
  EXPECT_THROW((void)find_process(getpid()), std::system_error);
  EXPECT_THROW((void)environment_of(getpid()), std::system_error);
  EXPECT_THROW((void)process_space(), std::system_error);
}

}  // namespace
}  // namespace dutiful
