// What daemons leave: written down, found, ended, and nobody else's.

#include "commands/leftovers.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/environment.h"
#include "commands/spawn.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

// What is killed is gone long before, however busy the host.
constexpr Duration patience = 1min;

TEST(Leftovers, are_found_by_the_name_of_their_daemon) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const std::string mine = new_instance();
  const auto start_one = [&](const std::string& instance) {
    const pid_t process = fork();
    if (process == 0) {
      setenv("DUTIFUL_INSTANCE", instance.c_str(), 1);
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
  const pid_t left = start_one(mine);
  const pid_t other = start_one("another");

  const Sweep sweep = end_leftovers({{.name = mine}}, patience);
  EXPECT_GE(sweep.ended, 2U);
  EXPECT_THAT(sweep.remaining, testing::IsEmpty());
  EXPECT_EQ(waitpid(left, nullptr, 0), left);
  EXPECT_EQ(waitpid(other, nullptr, WNOHANG), 0);

  EXPECT_GE(end_leftovers({{.name = "another"}}, patience).ended, 2U);
  EXPECT_EQ(waitpid(other, nullptr, 0), other);
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
    return {.name = new_instance(),
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
  EXPECT_EQ(end_leftovers({too_early}, patience).ended, 0U);
  // The number means nothing on another host, or after this one was started again.
  Instance elsewhere = abandoned.instance_that_lived_until(abandoned.born);
  elsewhere.space = "another";
  EXPECT_EQ(end_leftovers({elsewhere}, patience).ended, 0U);

  EXPECT_EQ(end_leftovers({abandoned.instance_that_lived_until(abandoned.born)}, patience).ended,
            1U);
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
  EXPECT_EQ(end_leftovers(before, patience).ended, 1U);
  EXPECT_EQ(waitpid(second, nullptr, 0), second);

  // The file was replaced by the next one.
  EXPECT_THROW((void)instances.add(), std::runtime_error);
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
  const std::string name = new_instance();
  Spawner spawner;
  std::vector<pid_t> left;
  for (int i = 0; i < 20; ++i) {
    left.push_back(
        spawner
            .spawn({.arguments = {"/bin/sleep", "1000"}}, {{std::string{instance_variable}, name}})
            .process);
  }
  {
    const FewDescriptors few{8};
    const Sweep sweep = end_leftovers({{.name = name}}, patience);
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
    EXPECT_THROW((void)end_leftovers({{.name = new_instance()}}, patience), std::system_error);
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
                AllOf(HasSubstr(state + "-commands cannot be read: Is a directory"),
                      HasSubstr("make it readable")));
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
  ASSERT_EQ(symlink("/dev/full", (state + "-commands-next").c_str()), 0);
  try {
    Instances{state}.enter("a");
    FAIL() << "it was written";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
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
