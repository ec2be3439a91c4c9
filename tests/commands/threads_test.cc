// X3: the daemon needs no thread per command, so a limit on processes is left to the commands.

#include <filesystem>

#include <sys/resource.h>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

constexpr int tasks = 40;

#ifdef DUTIFUL_PLAIN_BUILD
constexpr std::size_t threads_max = 5;
#else
constexpr std::size_t threads_max = 6;  // ThreadSanitizer adds one
#endif

class Threads : public DutifulRun {
 protected:
  std::size_t of(const Process& daemon) const {
    const std::filesystem::directory_iterator threads{"/proc/" + std::to_string(daemon.id()) +
                                                      "/task"};
    return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
  }
};

// A user without any other process, with a limit on processes.
class LimitedUser : public Threads {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user that has no processes yet";
  }

  Process start(rlim_t processes, const std::vector<std::string>& more = {}) const {
    const auto user = static_cast<uid_t>(70'000 + getpid() % 100'000);
    for (const auto& name : {directory.file("."), file}) {
      if (chown(name.c_str(), user, user) != 0) throw std::runtime_error("chown");
    }
    // A sanitizer that looks for leaks at the end would need one more process.
    return Process{arguments(more), {{"ASAN_OPTIONS", "detect_leaks=0"}}, {}, [=] {
                     const rlimit limit{.rlim_cur = processes, .rlim_max = processes};
                     return setgid(user) == 0 && setuid(user) == 0 &&
                            setrlimit(RLIMIT_NPROC, &limit) == 0;
                   }};
  }
};

TEST_F(Threads, are_five_however_many_commands_run) {
  const Fifo go = fifo("go");
  std::string text;
  for (int i = 0; i < tasks; ++i) {
    text += task(std::to_string(i), "read line < " + go.path());
  }
  write(text);
  Process daemon{arguments()};
  for (int i = 0; i < tasks; ++i) daemon.await("TaskRunStarted");
  EXPECT_LE(of(daemon), threads_max);
  daemon.signal(SIGTERM);
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(LimitedUser, gets_all_its_tasks_done) {
  std::string text;
  for (int i = 0; i < tasks; ++i) text += impatient_task(std::to_string(i), "true");
  write(text);
  Process daemon = start(12);
  for (int i = 0; i < tasks; ++i) daemon.await("TaskRunCompleted");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(LimitedUser, can_stop_a_daemon_that_gets_no_more_processes) {
  const Fifo ready = fifo("ready");
  std::string text;
  for (int i = 0; i < tasks; ++i) {
    text +=
        task(std::to_string(i), "trap '' TERM; while :; do read line < " + ready.path() + "; done");
  }
  write(text);
  Process daemon = start(8, {"--grace", "0s", "--kill-grace", "0s"});
  daemon.await("TaskRunFailed");  // the kernel allows no more processes
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

}  // namespace
}  // namespace dutiful
