// dutiful run: how signals, reloads and time limits end what it runs, or do not.

#include <thread>

#include <sys/socket.h>
#include <sys/un.h>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(DutifulRun, ends_at_SIGTERM_when_its_commands_have_finished) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  write(task("a", "echo here > " + ready.path() + "; cat " + go.path() + "; echo done"));
  Process daemon{arguments()};
  ready.read_text();

  daemon.signal(SIGTERM);
  daemon.await("SchedulerStopRequested");
  go.release();

  daemon.await("TaskRunCompleted", "a");
  daemon.await("SchedulerStopped");
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, ends_its_commands_at_a_second_signal_also_those_that_ignore_SIGTERM) {
  const Fifo ready = fifo("ready");
  write(task("a", "trap '' TERM; echo $$ > " + ready.path() + "; while :; do sleep 1000; done"));
  Process daemon{arguments({"--kill-grace", "50ms"})};
  const pid_t command = std::stoi(ready.read_text());

  daemon.signal(SIGINT);
  daemon.await("SchedulerStopRequested");
  daemon.signal(SIGTERM);

  daemon.await("CommandsEnding");
  EXPECT_THAT(daemon.await("TaskRunFailed", "a")["error"].get<std::string>(),
              HasSubstr("stopped with the daemon: killed by SIGKILL"));
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_EQ(kill(-command, 0), -1);
}

TEST_F(DutifulRun, ends_its_commands_when_the_grace_is_over) {
  const Fifo ready = fifo("ready");
  write(task("a", "echo here > " + ready.path() + "; exec sleep 1000"));
  Process daemon{arguments({"--grace", "50ms"})};
  ready.read_text();

  daemon.signal(SIGTERM);

  EXPECT_EQ(daemon.await("CommandsEnding")["reason"], "the grace period has expired");
  EXPECT_THAT(daemon.await("TaskRunFailed", "a")["error"].get<std::string>(),
              HasSubstr("killed by SIGTERM"));
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, ends_a_command_past_its_time_limit) {
  write(task("a", "exec sleep 1000", "timeout = \"100ms\""));
  Process daemon{arguments()};
  EXPECT_THAT(daemon.await("TaskRunFailed", "a")["error"].get<std::string>(),
              HasSubstr("past its time limit"));
}

TEST_F(DutifulRun, says_once_that_it_ends_commands_and_only_where_some_run) {
  const Fifo ready = fifo("ready");
  write(task("a", "trap '' TERM; echo here > " + ready.path() + "; while :; do sleep 1000; done"));
  {
    Process daemon{arguments({"--kill-grace", "200ms"})};
    ready.read_text();
    for (const int signal : {SIGINT, SIGTERM, SIGTERM, SIGTERM}) {
      daemon.signal(signal);
      if (signal == SIGINT) daemon.await("SchedulerStopRequested");
    }
    daemon.await("CommandsEnding");
    daemon.signal(SIGTERM);
    const Ended ended = daemon.end();
    EXPECT_EQ(ended.status, 0);
    const auto first = ended.out.find("CommandsEnding");
    EXPECT_EQ(ended.out.find("CommandsEnding", first + 1), std::string::npos) << ended.out;
  }
  write("");
  Process idle{arguments({"--grace", "0s"})};
  idle.await("TaskFileLoaded");
  idle.signal(SIGTERM);
  idle.signal(SIGINT);
  EXPECT_THAT(idle.end().out, Not(HasSubstr("CommandsEnding")));
}

TEST_F(DutifulRun, takes_a_signal_that_came_while_it_read_its_file) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "[[task]]\nname = \"" + std::to_string(i) +
            "\"\ncron = \"0 0 1 1 *\"\nretry = \"1h\"\nrun = \"true\"\n";
  }
  write(text);
  // Signals wait from the first line of the command on. A sanitizer that starts blocks all of them
  // for a moment, and lets them through again: SIGUSR1 tells that moment from ours.
  Process daemon{arguments()};
  const auto holds_signals_back = [&] {
    const std::string status = contents("/proc/" + std::to_string(daemon.id()) + "/status");
    const auto place = status.find("SigBlk:");
    if (place == std::string::npos) return false;
    const auto mask = std::stoull(status.substr(place + 7), nullptr, 16);
    const auto is_blocked = [&](int signal) { return ((mask >> (signal - 1)) & 1) != 0; };
    return is_blocked(SIGHUP) && !is_blocked(SIGUSR1);
  };
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!holds_signals_back() && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  daemon.signal(SIGHUP);
  daemon.await("TaskFileLoaded");
  daemon.await("TaskFileLoaded");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, reads_its_file_again_at_SIGHUP_while_commands_run) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  const std::string long_one =
      task("a", "echo here > " + ready.path() + "; cat " + go.path() + " > /dev/null");
  write(long_one + task("old", "true"));
  Process daemon{arguments()};
  ready.read_text();
  daemon.await("TaskRunCompleted", "old");

  write(long_one + task("new", "true"));
  daemon.signal(SIGHUP);
  daemon.await("TaskRemoved", "old");
  EXPECT_EQ(daemon.await("TaskFileLoaded")["tasks"], 2);
  daemon.await("TaskRunCompleted", "new");

  go.release();
  daemon.await("TaskRunCompleted", "a");
}

TEST_F(DutifulRun, goes_on_with_the_old_tasks_where_the_new_file_is_wrong) {
  write(task("a", "true"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "a");

  write("[[task]]\nname = \"b\"\ncron = \"*/5 * * * *\"\nretry = \"1s\"\nrun = \"true\"\n");
  daemon.signal(SIGHUP);
  EXPECT_THAT(daemon.await("TaskFileRejected")["error"].get<std::string>(),
              AllOf(HasSubstr(file + ":3:"), HasSubstr("the tasks stay as they were")));
  std::filesystem::remove(file);
  daemon.signal(SIGHUP);
  EXPECT_THAT(daemon.await("TaskFileRejected")["error"].get<std::string>(), HasSubstr(file));

  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  const auto tasks = nlohmann::json::parse(run_to_end({"status", "--state", state, "--json"}).out);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0]["taskName"], "a");
}

TEST_F(DutifulRun, is_not_held_up_by_a_file_that_has_become_a_pipe) {
  write(task("a", "true"));
  Process daemon{arguments()};
  daemon.await("TaskFileLoaded");
  std::filesystem::remove(file);
  const Fifo nobody_writes{file};
  daemon.signal(SIGHUP);
  EXPECT_THAT(daemon.await("TaskFileRejected")["error"].get<std::string>(),
              HasSubstr("not a regular file"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, tells_systemd_how_it_is_doing) {
  const std::string path = directory.file("notify");
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, path.size());
  const int socket_end = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(socket_end, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const timeval limit{.tv_sec = patience.count(), .tv_usec = 0};
  setsockopt(socket_end, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const auto message = [&] {
    char text[200];
    const ssize_t size = recv(socket_end, text, sizeof text, 0);
    return std::string{text, size > 0 ? static_cast<std::size_t>(size) : 0};
  };

  write(task("a", "exit ${NOTIFY_SOCKET:+1}"));
  Process daemon{arguments(), {{"NOTIFY_SOCKET", path}}};
  EXPECT_EQ(message(), "READY=1");
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGHUP);
  EXPECT_THAT(message(), testing::StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_EQ(message(), "READY=1");
  daemon.signal(SIGTERM);
  EXPECT_EQ(message(), "STOPPING=1");
  EXPECT_EQ(daemon.end().status, 0);
  close(socket_end);
}

}  // namespace
}  // namespace dutiful
