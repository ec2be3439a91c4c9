// Commands by a scheduler whose time stands still until it is told otherwise.

#include "commands/commands.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <functional>
#include <mutex>
#include <semaphore>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "posix/descriptor.h"
#include "support/epoll_faults.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class CommandRuns : public testing::Test {
 protected:
  ~CommandRuns() override {
    commands.end_all();
    scheduler.stop();
  }

  static Command shell(const std::string& script) {
    return {.arguments = {"/bin/sh", "-c", script}};
  }

  void start(Command command, Duration time_limit = {}) {
    scheduler.initialize({{.name = "task",
                           .cron = "* * * * *",
                           .callback = commands.callback(std::move(command)),
                           .retry_delay = 1h,
                           .time_limit = time_limit}});
  }

  CommandResult wait() {
    std::unique_lock lock{mutex};
    // Not wait_for(): ThreadSanitizer does not know the call that it makes.
    const auto until = std::chrono::system_clock::now() + 60s;
    if (!changed.wait_until(lock, until, [this] { return result.has_value(); })) {
      throw std::runtime_error("the command does not end");
    }
    return std::move(*std::exchange(result, std::nullopt));
  }

  // Waits until that is all that was written.
  void await_output(const std::string& text) {
    std::unique_lock lock{mutex};
    const auto until = std::chrono::system_clock::now() + 60s;
    if (!changed.wait_until(lock, until, [&] { return streamed == text; })) {
      throw std::runtime_error("the output does not come: " + streamed);
    }
  }

  CommandResult run(Command command) {
    commands.open();
    start(std::move(command));
    return wait();
  }

  // Waits until the command has opened the pipe for writing and written a line.
  std::string line_from(const std::string& fifo) const {
    std::ifstream pipe{fifo};
    std::string line;
    std::getline(pipe, line);
    return line;
  }
  std::string make_fifo(const std::string& name) const {
    const std::string path = directory.file(name);
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  // Long enough for any command that minds SIGTERM, and for any that dies, however busy the host.
  explicit CommandRuns(Duration grace = 1min, Duration death = 1min)
      : kill_grace(grace), death_max(death) {}
  Duration kill_grace;
  Duration death_max;

  TemporaryDirectory directory;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<CommandResult> result;
  std::string streamed;
  std::function<void(const RunInfo&, std::string_view)> hear;  // in place of that
  std::function<void()> see_end;
  bool throwing = false;
  Commands commands{{.instance = "test instance",
                     .kill_grace = kill_grace,
                     .death_max = death_max,
                     .on_output =
                         [this](const RunInfo& run, std::string_view chunk) {
                           if (hear) return hear(run, chunk);
                           const std::lock_guard lock{mutex};
                           streamed += chunk;
                           changed.notify_all();
                           if (throwing) throw std::runtime_error("no room for it");
                         },
                     .on_end =
                         [this](CommandResult ended) {
                           if (see_end) see_end();
                           const std::lock_guard lock{mutex};
                           result = std::move(ended);
                           changed.notify_all();
                           if (throwing) throw std::runtime_error("no room for it");
                         }}};
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:05Z"));
  Scheduler scheduler{{.zone = Zone::utc(), .clock = clock}};
};

TEST_F(CommandRuns, succeed_with_exit_status_0) {
  const auto ended = run(shell("echo out; echo err >&2"));
  EXPECT_TRUE(ended.succeeded());
  EXPECT_EQ(ended.exit_status, 0);
  EXPECT_EQ(ended.output, "out\nerr\n");
  EXPECT_EQ(streamed, "out\nerr\n");
}

TEST_F(CommandRuns, end_though_nobody_can_take_their_output_or_their_result) {
  throwing = true;
  EXPECT_EQ(run(shell("echo out")).output, "out\n");
  scheduler.stop();  // returns when the run is settled
}

TEST_F(CommandRuns, fail_with_another_exit_status_and_quote_the_last_line) {
  const auto ended = run(shell("echo first; echo no such host; exit 3"));
  EXPECT_FALSE(ended.succeeded());
  EXPECT_EQ(reason_of(ended), "exit status 3: no such host");
}

TEST_F(CommandRuns, fail_by_a_signal) {
  const auto ended = run(shell("kill -SEGV $$"));
  EXPECT_EQ(ended.signal, SIGSEGV);
  EXPECT_EQ(reason_of(ended), "killed by SIGSEGV");
}

TEST_F(CommandRuns, are_told_which_run_they_are) {
  const auto ended = run(
      {.arguments = {"/bin/sh",
                     "-c",
                     "echo $DUTIFUL_TASK $DUTIFUL_PULSE $DUTIFUL_ATTEMPT $DUTIFUL_REASON $MINE; "
                     "echo $DUTIFUL_KEY; echo $DUTIFUL_INSTANCE"},
       .environment = {{"MINE", "yes"}}});
  EXPECT_EQ(ended.output,
            "task 2025-03-03T10:00:00.000Z 1 boot yes\n"
            "task@2025-03-03T10:00:00.000Z\ntest instance\n");
}

// P8
TEST_F(CommandRuns, have_one_key_for_every_attempt_and_a_fence_each) {
  commands.open();
  scheduler.initialize(
      {{.name = "task",
        .cron = "0 10 * * *",
        .callback = commands.callback(shell("echo $DUTIFUL_REASON $DUTIFUL_KEY $DUTIFUL_FENCE; "
                                            "test $DUTIFUL_ATTEMPT = 3")),
        .retry_delay = 0s}});
  while (!wait().succeeded()) {
  }
  EXPECT_EQ(streamed,
            "boot task@2025-03-03T10:00:00.000Z 1\n"
            "retry task@2025-03-03T10:00:00.000Z 2\n"
            "retry task@2025-03-03T10:00:00.000Z 3\n");
}

TEST_F(CommandRuns, have_a_session_of_their_own_and_no_descriptor_of_ours) {
  const int leak = open("/dev/null", O_RDONLY);  // not close-on-exec
  // ls has the three, and the directory it reads.
  const auto ended =
      run(shell("ls /proc/self/fd | tr '\\n' ' '; readlink /proc/self/fd/0; "
                "cut -d' ' -f5,6 /proc/$$/stat; echo $$"));
  close(leak);
  std::istringstream lines{ended.output};
  std::string descriptors;
  std::string group;
  std::string session;
  std::string process;
  std::getline(lines, descriptors);
  lines >> group >> session >> process;
  EXPECT_EQ(descriptors, "0 1 2 3 /dev/null");
  EXPECT_EQ(group, process);
  EXPECT_EQ(session, process);
}

TEST_F(CommandRuns, have_no_signal_blocked_or_ignored) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const auto ended = run(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status"));
  std::signal(SIGPIPE, before);
  EXPECT_EQ(ended.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

// The limit that a daemon was started with.
class FewDescriptors {
 protected:
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{.rlim_cur = 100, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class FrugalCommandRuns : FewDescriptors, public CommandRuns {};

TEST_F(FrugalCommandRuns, keep_the_limit_of_descriptors_that_the_daemon_had) {
  EXPECT_EQ(run(shell("ulimit -Sn")).output, "100\n");
  rlimit ours{};
  getrlimit(RLIMIT_NOFILE, &ours);
  EXPECT_EQ(ours.rlim_cur, ours.rlim_max);  // which the daemon has raised for itself
}

TEST_F(CommandRuns, happen_in_their_directory) {
  auto command = shell("pwd");
  command.directory = "/usr";
  EXPECT_EQ(run(command).output, "/usr\n");
}

TEST_F(CommandRuns, are_found_on_their_own_path) {
  const std::string program = directory.file("greet");
  std::ofstream{program} << "#!/bin/sh\necho hello $1\n";
  chmod(program.c_str(), 0755);
  const auto ended =
      run({.arguments = {"greet", "you"},
           .environment = {{"PATH", "/nonexistent:" + directory.file("") + ":/bin"}}});
  EXPECT_EQ(ended.output, "hello you\n");
}

struct Unstartable {
  Command command;
  std::string reason;
};

class CannotStart : public CommandRuns, public testing::WithParamInterface<Unstartable> {};

TEST_P(CannotStart, and_the_reason_is_clear) {
  const auto ended = run(GetParam().command);
  EXPECT_FALSE(ended.succeeded());
  EXPECT_EQ(reason_of(ended), "not started: " + GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Commands,
    CannotStart,
    testing::Values(Unstartable{{.arguments = {"/no/such/program"}},
                                R"("/no/such/program" or its interpreter does not exist)"},
                    Unstartable{{.arguments = {"no-such-program"}},
                                R"(no program "no-such-program" in PATH)"},
                    Unstartable{{.arguments = {"/etc/passwd"}},
                                R"(cannot execute "/etc/passwd": Permission denied)"},
                    Unstartable{{.arguments = {"/bin/true"}, .directory = "/no/such"},
                                R"(cannot enter directory "/no/such": No such file or directory)"},
                    Unstartable{{.arguments = {"/bin/true"}, .user = "nobody-of-this-name"},
                                R"(no user "nobody-of-this-name" on this host)"}));

TEST_F(CommandRuns, fail_where_the_host_has_no_descriptor_left) {
#ifdef __SANITIZE_ADDRESS__
  // At a call of a virtual function UndefinedBehaviorSanitizer asks, by a pipe, whether the object
  // can be read, and takes it for none where there is no pipe. Spawner.* has what can do without.
  GTEST_SKIP() << "the sanitizer needs a pipe of its own to look at an object";
#endif
  commands.open();
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const Descriptor probe{dup(0)};
  const rlimit none{.rlim_cur = static_cast<rlim_t>(probe.get()), .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  start({.arguments = {"/bin/true"}});
  const auto ended = wait();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(reason_of(ended),
              AllOf(HasSubstr("cannot get a pipe for its output: Too many open files"),
                    HasSubstr("--max-concurrent")));
}

TEST_F(CommandRuns, become_another_user_with_all_groups_of_it) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  auto command =
      shell("id -u; id -G; echo $HOME $USER; cat /proc/self/loginuid 2>/dev/null | wc -l");
  command.user = "nobody";
  const auto ended = run(command);
  EXPECT_THAT(ended.output, StartsWith("65534\n65534\n/nonexistent nobody\n"));
  EXPECT_EQ(geteuid(), 0U);  // and the daemon has not
}

TEST_F(CommandRuns, past_their_time_limit_get_SIGTERM) {
  commands.open();
  const std::string ready = make_fifo("ready");
  start(shell("trap 'echo cleaned up; exit 0' TERM; echo > " + ready +
              "; while :; do sleep 0.05; done"),
        10s);
  line_from(ready);
  clock->advance(10s);
  const auto ended = wait();
  EXPECT_TRUE(ended.past_time_limit);
  EXPECT_FALSE(ended.succeeded());
  EXPECT_THAT(ended.output, testing::EndsWith("cleaned up\n"));
}

class ImpatientCommandRuns : public CommandRuns {
 protected:
  ImpatientCommandRuns() : CommandRuns(50ms) {}
};

TEST_F(ImpatientCommandRuns, that_ignore_SIGTERM_are_killed_with_all_their_group) {
  commands.open();
  const std::string ready = make_fifo("ready");
  // The grandchild holds the pipe and ignores SIGTERM; the command itself ends at once.
  start(shell("(trap '' TERM; echo $$ > " + ready + "; while :; do sleep 1000; done) & wait"), 10s);
  const pid_t group = std::stoi(line_from(ready));
  clock->advance(10s);
  const auto ended = wait();
  EXPECT_TRUE(ended.past_time_limit);
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_EQ(kill(-group, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_FALSE(commands.has_leftovers());
}

class HastyCommandRuns : public CommandRuns {
 protected:
  HastyCommandRuns() : CommandRuns(50ms, 50ms) {}
};

TEST_F(HastyCommandRuns, end_though_their_group_does_not_and_that_is_remembered) {
  commands.open();
  const std::string ready = make_fifo("ready");
  const std::string hold = make_fifo("hold");
  // A dead process stays in its group until its parent minds it; this one has left the group, and
  // never does.
  start(shell("sh -c 'sleep 1000 & exec setsid tee " + ready + " < " + hold + "' & wait"), 10s);
  std::ofstream parent{hold};
  parent << "are you there?" << std::endl;
  line_from(ready);
  clock->advance(10s);

  EXPECT_TRUE(wait().past_time_limit);
  EXPECT_TRUE(commands.has_leftovers());
}

TEST_F(CommandRuns, end_with_the_command_though_a_grandchild_holds_the_pipe) {
  const std::string hold = make_fifo("hold");
  const auto ended = run(shell("echo before; cat " + hold + " & exit 0"));
  EXPECT_EQ(ended.output, "before\n");
  std::ofstream{hold} << "now\n";  // the grandchild went on
}

TEST_F(CommandRuns, leave_processes_that_are_read_after_the_end) {
  const std::string hold = make_fifo("hold");
  const std::string verdict = make_fifo("verdict");
  const auto ended =
      run(shell("(cat " + hold + "; test $? = 0 && fate=lives; echo ${fate:-died} > " + verdict +
                ") & exit 0"));
  std::ofstream{hold} << "now\n";
  EXPECT_EQ(line_from(verdict), "lives");  // and was not killed by SIGPIPE
  await_output("now\n");
  EXPECT_EQ(ended.output, "");
}

TEST_F(CommandRuns, fail_before_they_begin_where_their_output_cannot_be_watched) {
  const std::string trace = directory.file("trace");
  commands.open();
  const EpollFault fault{ENOSPC};
  start(shell("echo here > " + trace));
  EXPECT_EQ(reason_of(wait()),
            "not started: cannot watch its output: No space left on device; "
            "raise fs.epoll.max_user_watches");
  EXPECT_NE(access(trace.c_str(), F_OK), 0);
}

TEST_F(CommandRuns, may_write_without_end_and_only_the_last_is_kept) {
  const auto ended = run(shell("yes 0123456 | head -c 100000000; echo; echo the end"));
  EXPECT_EQ(ended.output_total, 100'000'009U);
  EXPECT_EQ(ended.output.size(), 8192U);
  EXPECT_THAT(ended.output, testing::EndsWith("\nthe end\n"));
  streamed.clear();
}

TEST_F(CommandRuns, end_before_more_is_read_of_what_others_write) {
  const std::string ready = make_fifo("ready");
  const std::string go = make_fifo("go");
  std::binary_semaphore held{0};
  std::binary_semaphore dead{0};
  std::atomic<std::size_t> heard = 0;
  std::atomic<std::size_t> heard_until_end = 0;
  std::atomic<bool> hold = false;
  see_end = [&] { heard_until_end = heard.load(); };
  hear = [&](const RunInfo&, std::string_view chunk) {
    heard += chunk.size();
    if (!hold.exchange(false)) return;
    held.release();
    dead.acquire();
    heard = 0;
  };
  std::vector<Registration> tasks;
  const auto add = [&](const std::string& name, const std::string& script) {
    tasks.push_back({.name = name,
                     .cron = "0 10 * * *",
                     .callback = commands.callback(shell(script)),
                     .retry_delay = 1h});
  };
  add("short", "echo $$ > " + ready + "; read line < " + go);
  for (int i = 0; i < 48; ++i) add("chatty " + std::to_string(i), "exec yes");
  commands.open();
  scheduler.initialize(tasks);
  const auto process = static_cast<id_t>(std::stoi(line_from(ready)));

  hold = true;
  held.acquire();  // the thread that serves all stands still, in the middle of a turn
  std::ofstream{go} << "now\n";
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, process, &info, WEXITED | WNOWAIT), 0);
  dead.release();

  EXPECT_EQ(wait().run.task, "short");
  EXPECT_LT(heard_until_end, 1'000'000U);
  commands.end_all();
  scheduler.stop();
}

TEST_F(CommandRuns, wait_for_the_gate_and_fail_if_it_never_opens) {
  start(shell("echo ran"));
  commands.end_all();
  EXPECT_EQ(reason_of(wait()), "not started: the daemon is stopping");
}

}  // namespace
}  // namespace dutiful
