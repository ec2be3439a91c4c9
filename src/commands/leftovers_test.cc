// What daemons leave: written down, found, ended, and nobody else's.

#include "commands/leftovers.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "commands/environment.h"
#include "commands/spawn.h"
#include "posix/random_name.h"
#include "support/disk_faults.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

// What is killed is gone long before, however busy the host.
constexpr Duration patience = 1min;

TEST(Leftovers, are_found_by_the_name_of_their_daemon_and_the_fence_of_their_run) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const std::string mine = random_name();
  const auto start_one = [&](const std::string& instance, const char* fence) {
    const pid_t process = fork();
    if (process == 0) {
      setenv("DUTIFUL_INSTANCE", instance.c_str(), 1);
      setenv("DUTIFUL_FENCE", fence, 1);
      // Forks twice and leaves the session; only then tells.
      execl("/bin/sh",
            "sh",
            "-c",
            ("(setsid sh -c 'echo >&" + std::to_string(pipe_ends[1]) +
             "; exec sleep 1000' &) ; exec sleep 1000")
                .c_str(),
            nullptr);
      _exit(127);
    }
    char told = 0;
    EXPECT_EQ(read(pipe_ends[0], &told, 1), 1);
    return process;
  };
  const pid_t left = start_one(mine, "12");
  const pid_t other = start_one("another", "12");
  const pid_t finished = start_one(mine, "1");

  const Sweep sweep = end_leftovers({{.name = mine}}, {11, 12}, patience);
  EXPECT_GE(sweep.ended, 2U);
  EXPECT_THAT(sweep.remaining, testing::IsEmpty());
  EXPECT_EQ(waitpid(left, nullptr, 0), left);
  EXPECT_EQ(waitpid(other, nullptr, WNOHANG), 0);
  EXPECT_EQ(waitpid(finished, nullptr, WNOHANG), 0);
  EXPECT_EQ(end_leftovers({{.name = mine}}, {}, patience).ended, 0U);

  EXPECT_GE(end_leftovers({{.name = "another"}}, {12}, patience).ended, 2U);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
  EXPECT_GE(end_leftovers({{.name = mine}}, {1}, patience).ended, 2U);
  EXPECT_EQ(waitpid(finished, nullptr, 0), finished);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// A process without an environment, in a session whose leader is gone.
class Abandoned {
 public:
  Abandoned() {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    session = fork();
    if (session == 0) {
      setsid();
      member = fork();
      if (member == 0)
        execle("/bin/sleep", "sleep", "1000", nullptr, std::array<char*, 1>{}.data());
      _exit(write(pipe_ends[1], &member, sizeof member) == sizeof member ? 0 : 1);
    }
    EXPECT_EQ(read(pipe_ends[0], &member, sizeof member), static_cast<ssize_t>(sizeof member));
    EXPECT_EQ(waitpid(session, nullptr, 0), session);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    handle = Descriptor{static_cast<int>(syscall(SYS_pidfd_open, member, 0))};
    born = find_process(member).value().start;
  }
  ~Abandoned() { syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0); }
  Abandoned(const Abandoned&) = delete;
  Abandoned& operator=(const Abandoned&) = delete;

  [[nodiscard]] Instance instance_that_lived_until(Ticks instant) const {
    return {.name = random_name(),
            .space = process_space(),
            .alive_until = instant,
            .commands = {{.process = session, .not_before = 0, .not_after = 0}}};
  }

  pid_t session = 0;
  pid_t member = 0;
  Descriptor handle;
  Ticks born = 0;
};

TEST(Leftovers, are_found_by_their_session_where_it_must_be_theirs) {
  const Abandoned abandoned;
  // The number may have been given to another after the daemon's death.
  Instance too_early = abandoned.instance_that_lived_until(abandoned.born - 1);
  EXPECT_EQ(end_leftovers({too_early}, {}, patience).ended, 0U);
  // The number means nothing on another host, or after this one was started again.
  Instance elsewhere = abandoned.instance_that_lived_until(abandoned.born);
  elsewhere.space = "another";
  EXPECT_EQ(end_leftovers({elsewhere}, {}, patience).ended, 0U);

  EXPECT_EQ(
      end_leftovers({abandoned.instance_that_lived_until(abandoned.born)}, {}, patience).ended, 1U);
}

// Of a command that has ended the session is its own only until it was left: the daemon lived on,
// and the number may have come back meanwhile.
TEST(Leftovers, of_a_command_that_has_ended_were_born_before_that) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const auto left_by = [&](const Abandoned& one, Ticks until) {
    std::ofstream{state + "-commands", std::ios::trunc}
        << "name " << process_space() << " 1 1\n!" << one.session << " 1 " << until << "\n@0 0 "
        << one.born + 1000 << '\n';
    return Instances{state}.enter("a");
  };
  const Abandoned abandoned;
  EXPECT_EQ(end_leftovers(left_by(abandoned, abandoned.born - 1), {}, patience).ended, 0U);
  EXPECT_EQ(end_leftovers(left_by(abandoned, abandoned.born), {}, patience).ended, 1U);
}

TEST(Leftovers, that_are_written_down_lead_a_session_and_were_born_then) {
  const auto start_one = [](bool leads) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (leads) setsid();
      (void)!write(ends[1], "x", 1);
      while (true) pause();
    }
    char told = 0;
    EXPECT_EQ(read(ends[0], &told, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return process;
  };
  const pid_t member = start_one(false);
  const pid_t leader = start_one(true);
  const auto ended = [](pid_t process, Ticks not_before, Ticks not_after, Ticks daemon_start = 0) {
    const Instance instance{
        .name = random_name(),
        .space = process_space(),
        .start = daemon_start,
        .alive_until = ticks_now(),
        .commands = {{.process = process, .not_before = not_before, .not_after = not_after}}};
    return end_leftovers({instance}, {}, patience).ended;
  };
  EXPECT_EQ(ended(member, 0, ticks_now()), 0U);
  const Ticks born = find_process(leader).value().start;
  EXPECT_EQ(ended(leader, 0, born - 1), 0U);
  EXPECT_EQ(ended(leader, born + 1, born + 1000), 0U);
  EXPECT_EQ(ended(leader, 0, born + 1000, 1), 0U);  // from before its daemon
  EXPECT_EQ(ended(leader, born, born), 1U);
  EXPECT_EQ(waitpid(leader, nullptr, 0), leader);
  EXPECT_EQ(waitpid(member, nullptr, WNOHANG), 0);
  kill(member, SIGKILL);
  EXPECT_EQ(waitpid(member, nullptr, 0), member);
}

// An older daemon made the file by its umask: another user may have named whom he likes.
TEST(Leftovers, that_another_user_could_have_written_down_are_not_believed) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string file = state + "-commands";
  const std::string text = "a " + process_space() + " 999999999 1\n@      1234 1 2\n";
  for (const auto& [mode, commands] : {std::pair{0666, 0U}, {0660, 0U}, {0644, 1U}}) {
    std::ofstream{file} << text;
    ASSERT_EQ(chmod(file.c_str(), static_cast<mode_t>(mode)), 0);
    const std::vector<Instance> before = Instances{state}.enter("b");
    ASSERT_EQ(before.size(), 1U);
    EXPECT_EQ(before[0].name, "a");
    EXPECT_EQ(before[0].commands.size(), commands) << mode;
    std::filesystem::remove(file);
  }
}

TEST(Leftovers, are_not_ended_under_a_daemon_that_lives) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const Abandoned daemon;
  std::ofstream{state + "-commands"} << "name " << process_space() << ' ' << daemon.member << ' '
                                     << daemon.born << '\n';
  try {
    Instances{state}.enter("a");
    FAIL() << "it was taken for dead";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("process " + std::to_string(daemon.member) + " still works"));
  }
  // Another with its number.
  std::ofstream{state + "-commands"} << "name " << process_space() << ' ' << daemon.member << ' '
                                     << daemon.born - 1 << '\n';
  EXPECT_EQ(Instances{state}.enter("a").size(), 1U);
}

TEST(Leftovers, of_a_daemon_that_nobody_has_waited_for_are_ended) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const pid_t daemon = fork();
  if (daemon == 0) _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(daemon), &ended, WEXITED | WNOWAIT), 0);
  std::ofstream{state + "-commands"} << "name " << process_space() << ' ' << daemon << ' '
                                     << find_process(daemon).value().start << '\n';
  EXPECT_EQ(Instances{state}.enter("a").size(), 1U);
  EXPECT_EQ(waitpid(daemon, nullptr, 0), daemon);
}

TEST(Leftovers, are_written_down_while_they_run) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  Instances instances{state};
  (void)instances.enter("us");
  instances.keep_only("us");
  Spawner spawner;
  const auto spawn = [&](const CommandLine& line) {
    return spawner.spawn({.arguments = {"/bin/sleep", "1000"}}, {}, line).process;
  };
  const CommandLine first_line = instances.add();
  const CommandLine second_line = instances.add();
  const pid_t first = spawn(first_line);
  const pid_t second = spawn(second_line);
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  instances.remove(first_line);

  const auto before = Instances{state}.enter("next");
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(before[0].commands.size(), 1U);
  EXPECT_EQ(before[0].commands[0].process, second);
  EXPECT_EQ(end_leftovers(before, {}, patience).ended, 1U);
  EXPECT_EQ(waitpid(second, nullptr, 0), second);

  // The file was replaced by the next one.
  EXPECT_THROW((void)instances.add(), std::runtime_error);
}

// As where a disk does not answer: the command was killed with its group, and a part of that is
// still there.
TEST(Leftovers, that_do_not_die_with_their_command_stay_written_down) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  Instances instances{state};
  (void)instances.enter("us");
  instances.keep_only("us");
  const CommandLine line = instances.add();
  Spawner spawner;
  const pid_t process =
      spawner.spawn({.arguments = {"/bin/sh", "-c", "sleep 1000 & exit 0"}}, {}, line).process;
  EXPECT_EQ(waitpid(process, nullptr, 0), process);
  Instances::keep(line, process);

  const auto before = Instances{state}.enter("next");
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(before[0].commands.size(), 1U);
  EXPECT_EQ(before[0].commands[0].process, process);
  EXPECT_TRUE(before[0].commands[0].has_ended);
  EXPECT_EQ(end_leftovers(before, {}, patience).ended, 1U);
}

// Leaves so few descriptors to the process.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t left) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor next{open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const rlimit few{.rlim_cur = static_cast<rlim_t>(next.get()) + left,
                     .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Leftovers, are_all_ended_also_where_there_are_more_than_descriptors) {
  const std::string name = random_name();
  Spawner spawner;
  std::vector<pid_t> left;
  for (int i = 0; i < 20; ++i) {
    left.push_back(
        spawner
            .spawn({.arguments = {"/bin/sleep", "1000"}},
                   {{std::string{instance_variable}, name}, {std::string{fence_variable}, "7"}})
            .process);
  }
  {
    const FewDescriptors few{8};
    const Sweep sweep = end_leftovers({{.name = name}}, {7}, patience);
    EXPECT_EQ(sweep.ended, left.size());
    EXPECT_THAT(sweep.remaining, testing::IsEmpty());
  }
  for (const pid_t process : left) {
    kill(process, SIGKILL);
    EXPECT_EQ(waitpid(process, nullptr, 0), process);
  }
}

TEST(Leftovers, that_cannot_be_seen_for_want_of_descriptors_are_not_taken_for_gone) {
  for (const rlim_t left : {0, 1}) {
    const FewDescriptors few{left};
    EXPECT_THROW((void)end_leftovers({{.name = random_name()}}, {}, patience), std::system_error);
  }
  const FewDescriptors none{0};
  EXPECT_THROW((void)find_process(getpid()), std::system_error);
  EXPECT_THROW((void)environment_of(getpid()), std::system_error);
  EXPECT_THROW((void)process_space(), std::system_error);
}

TEST(Leftovers, of_names_that_cannot_be_read_are_not_taken_for_none) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  ASSERT_EQ(mkdir((state + "-commands").c_str(), 0700), 0);  // opens, and cannot be read
  try {
    Instances{state}.enter("a");
    FAIL() << "it was taken for empty";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr(state + "-commands\" is a directory"),
                      HasSubstr("end those commands and remove it")));
  }
}

TEST(Leftovers, of_names_that_are_damaged_are_not_taken_for_none) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  const std::string file = state + "-commands";
  for (const std::string damaged : {"", "\n", "\x1f\x8b a\n\xff\xfe\n", "@1 2 3\n"}) {
    std::ofstream{file, std::ios::trunc} << damaged;
    try {
      Instances{state}.enter("a", true);
      FAIL() << "it was taken for empty: " << damaged;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(file + " is damaged"), HasSubstr("remove it")));
    }
  }
  // A host that lost its power may do that to it, and its commands are gone.
  const std::array<timespec, 2> long_ago{
      {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), long_ago.data(), 0), 0);
  Instances{state}.enter("a", true);
  // Now it names one.
  EXPECT_FALSE(Instances{state}.enter("b", true).empty());
  Instances{state}.clear();
  EXPECT_TRUE(Instances{state}.enter("c", true).empty());
}

TEST(Leftovers, names_that_cannot_be_written_leave_the_file_as_it_was) {
  TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  {
    const WriteFault full;
    try {
      Instances{state}.enter("a");
      ADD_FAILURE() << "it was written";
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), HasSubstr("-commands\" cannot be written: File too large"));
    }
  }
  EXPECT_EQ(access((state + "-commands").c_str(), F_OK), -1);
  struct stat next {};
  EXPECT_EQ(lstat((state + "-commands-next").c_str(), &next), -1);
}

TEST(Leftovers, names_are_kept_until_their_processes_are_gone) {
  TemporaryDirectory directory;
  Instances instances{directory.file("state.db")};
  const auto enter = [&](const std::string& name) {
    std::string before;
    for (const Instance& instance : instances.enter(name)) before += instance.name;
    return before;
  };
  EXPECT_EQ(enter("a"), "");
  EXPECT_EQ(enter("b"), "a");
  EXPECT_EQ(enter("c"), "ab");
  instances.keep_only("c");
  EXPECT_EQ(enter("d"), "c");
  instances.clear();
  EXPECT_EQ(enter("e"), "");
}

}  // namespace
}  // namespace dutiful
