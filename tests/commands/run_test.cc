// dutiful run, end to end: tasks whose minute it is run at once, so nobody waits for one.

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "commands/daemon_process.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DutifulRun : public testing::Test {
 protected:
  // A task that is due now; `script` must not hold three single quotes in a row.
  static std::string task(const std::string& name,
                          const std::string& script,
                          const std::string& more = "") {
    return "[[task]]\nname = \"" + name + "\"\ncron = \"* * * * *\"\nretry = \"1h\"\nrun = '''" +
           script + "'''\n" + more + "\n";
  }
  // The same, and due again as soon as it has failed.
  static std::string impatient_task(const std::string& name, const std::string& script) {
    std::string text = task(name, script);
    return text.replace(text.find("1h"), 2, "0s");
  }
  void write(const std::string& text) const { std::ofstream{file} << text; }
  Fifo fifo(const std::string& name) const { return Fifo{directory.file(name)}; }

  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"run", file});
    return more;
  }

  TemporaryDirectory directory;
  std::string file = directory.file("tasks.toml");
  std::string state = directory.file("tasks.db");
};

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
              HasSubstr("it was ended with the daemon: killed by SIGKILL"));
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_EQ(kill(-command, 0), -1);
}

TEST_F(DutifulRun, says_what_it_has_loaded_before_it_starts_anything) {
  write(task("a", "true"));
  Process daemon{arguments()};
  daemon.await("TaskFileLoaded");
  daemon.await("TaskRunStarted", "a");
  daemon.await("TaskRunCompleted", "a");
}

TEST_F(DutifulRun, ends_its_commands_when_the_grace_is_over) {
  const Fifo ready = fifo("ready");
  write(task("a", "echo here > " + ready.path() + "; exec sleep 1000"));
  Process daemon{arguments({"--grace", "50ms"})};
  ready.read_text();

  daemon.signal(SIGTERM);

  EXPECT_EQ(daemon.await("CommandsEnding")["reason"], "the grace is over");
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

TEST_F(DutifulRun, leaves_no_command_to_go_on_beside_its_restarted_self) {
  // Whoever holds the lock is alive: the command, and a descendant that has forked twice into a
  // session of its own.
  const Fifo ready = fifo("ready");
  const std::string overlaps = directory.file("overlaps");
  write(task("a",
             "exec 9>" + directory.file("lock") + "; flock -n 9 || echo overlap >> " + overlaps +
                 "; (setsid sh -c 'echo $DUTIFUL_REASON > " + ready.path() +
                 "; exec sleep 1000' &); exec sleep 1000"));
  for (int round = 0; round < 3; ++round) {
    Process daemon{arguments()};
    if (round > 0) {
      EXPECT_GE(daemon.await("LeftoversEnded")["count"], 2);
      daemon.await("TaskOrphaned", "a");
    }
    daemon.await("TaskFileLoaded");
    EXPECT_EQ(ready.read_text(), round == 0 ? "boot\n" : "orphan\n");
    daemon.signal(SIGKILL);
    EXPECT_EQ(daemon.end().status, 128 + SIGKILL);
  }
  EXPECT_EQ(contents(overlaps), "");

  // What the last one left is ended also where nothing is to be run any more, and where the state
  // is reached by a link.
  write("");
  const std::string link = directory.file("link.db");
  ASSERT_EQ(symlink(state.c_str(), link.c_str()), 0);
  Process daemon{arguments({"--state", link})};
  daemon.await("LeftoversEnded");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, finds_what_it_left_also_where_the_environment_is_gone) {
  // One has cleared its environment, one has also left the session, as su does, and one has written
  // a title over it, as servers do.
  const Fifo ready = fifo("ready");
  const std::string overlaps = directory.file("overlaps");
  write(task("a",
             "exec 9>" + directory.file("lock") + "; flock -n 9 || echo overlap >> " + overlaps +
                 "; env -i sleep 1000 & pids=$!; env -i setsid sleep 1000 & pids=\"$pids $!\"; "
                 "perl -e '$0 = q(x) x 100000; open my $f, q(>), shift; print $f qq(@ARGV $$\\n); "
                 "close $f; sleep 1000' " +
                 ready.path() + " $pids & wait"));
  std::vector<int> handles;
  {
    Process daemon{arguments()};
    std::istringstream processes{ready.read_text()};
    for (pid_t process = 0; processes >> process;) {
      const std::string environment = "/proc/" + std::to_string(process) + "/environ";
      const auto until = std::chrono::steady_clock::now() + patience;
      while (contents(environment).find("DUTIFUL") != std::string::npos) {
        ASSERT_LT(std::chrono::steady_clock::now(), until) << "it is not hidden";
        sched_yield();
      }
      handles.push_back(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    }
    ASSERT_EQ(handles.size(), 3U);
    daemon.signal(SIGKILL);
    EXPECT_EQ(daemon.end().status, 128 + SIGKILL);
  }

  Process daemon{arguments()};
  EXPECT_EQ(daemon.await("LeftoversEnded")["count"], 4);
  for (const int handle : handles) {
    pollfd death{.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&death, 1, 0), 1);
    close(handle);
  }
  ready.read_text();
  EXPECT_EQ(contents(overlaps), "");
  daemon.signal(SIGKILL);
  daemon.end();

  write("");
  Process last{arguments()};
  last.await("LeftoversEnded");
  last.signal(SIGTERM);
  EXPECT_EQ(last.end().status, 0);
}

TEST_F(DutifulRun, leaves_alone_what_a_command_left_on_purpose_before_a_clean_stop) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  write(task("a",
             "(setsid sh -c 'echo $$ > " + ready.path() + "; cat " + go.path() +
                 " > /dev/null' > /dev/null 2>&1 &)"));
  pid_t service = 0;
  {
    Process daemon{arguments()};
    service = std::stoi(ready.read_text());
    daemon.await("TaskRunCompleted", "a");
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.end().status, 0);
  }
  write("");
  Process daemon{arguments()};
  daemon.await("TaskFileLoaded");
  EXPECT_EQ(kill(service, 0), 0);
  go.release();
}

TEST_F(DutifulRun, reaps_descendants_that_have_lost_their_parent) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  write(
      task("a", "(setsid sh -c 'echo $$ > " + ready.path() + "; read go < " + go.path() + "' &)"));
  Process daemon{arguments()};
  const pid_t orphan = std::stoi(ready.read_text());
  daemon.await("TaskRunCompleted", "a");
  const std::string status = contents("/proc/" + std::to_string(orphan) + "/status");
  EXPECT_THAT(status, HasSubstr("PPid:\t" + std::to_string(daemon.id()) + '\n'));

  const int handle = static_cast<int>(syscall(SYS_pidfd_open, orphan, 0));
  go.release();
  pollfd death{.fd = handle, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&death, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())), 1);
  close(handle);
  // It is dead. Nothing tells when its parent has heard of it, which is a moment later.
  const auto until = std::chrono::steady_clock::now() + patience;
  while (kill(orphan, 0) == 0 && std::chrono::steady_clock::now() < until) sched_yield();
  EXPECT_EQ(kill(orphan, 0), -1);
}

TEST_F(DutifulRun, takes_a_gigabyte_of_output_in_little_memory) {
  write(task("flood", "yes | head -c 1073741824"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "flood");

  const std::string status = contents("/proc/" + std::to_string(daemon.id()) + "/status");
  const auto peak = status.find("VmHWM:");
  ASSERT_NE(peak, std::string::npos);
#ifdef DUTIFUL_PLAIN_BUILD
  EXPECT_LT(std::stol(status.substr(peak + 6)), 50'000) << "kB";
#endif
  daemon.signal(SIGTERM);
  daemon.end();
  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", file, "--json"}).out);
  EXPECT_EQ(runs[0]["outputBytes"], 1073741824);
  EXPECT_LE(runs[0]["output"].get<std::string>().size(), 8192U);
}

TEST_F(DutifulRun, is_not_held_up_by_a_log_that_nobody_reads) {
  const Fifo ready = fifo("ready");
  const std::string line(200, 'x');
  write(task("flood", "yes " + line + " | head -c 20000000; echo flooded > " + ready.path()));
  Process daemon{arguments({"--output"})};
  EXPECT_EQ(ready.read_text(), "flooded\n");
  daemon.signal(SIGTERM);
  // Every line of the log is an event, also the one that tells of those that are missing.
  EXPECT_GT(daemon.await("LogLinesDropped")["count"], 1000);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, logs_what_commands_write_if_asked_and_no_line_can_be_forged) {
  write(task("a", "printf 'one\\n\\033[31mtwo\\nno newline'"));
  Process daemon{arguments({"--output", "--log", "human"})};
  daemon.await_text("  a  succeeded in ");
  daemon.signal(SIGTERM);
  const std::string log = daemon.end().out;
  EXPECT_THAT(log,
              AllOf(HasSubstr("  a  | one\n"),
                    HasSubstr("  a  | \\x1b[31mtwo\n"),
                    HasSubstr("  a  | no newline\n"),
                    HasSubstr("  a  succeeded in "),
                    Not(HasSubstr("\x1b"))));
}

TEST_F(DutifulRun, refuses_a_state_that_another_holds) {
  write(task("a", "true"));
  Process first{arguments()};
  first.await("TaskRunCompleted", "a");

  const Ended second = run_to_end(arguments());
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("is in use by process " + std::to_string(first.id())));
  first.signal(SIGTERM);
  EXPECT_EQ(first.end().status, 0);
}

TEST_F(DutifulRun, starts_nothing_while_its_state_is_gone) {
  const Fifo go = fifo("go");
  write(impatient_task("a", "read x < " + go.path() + "; exit 1"));
  Process daemon{arguments()};
  daemon.await("TaskRunStarted", "a");
  std::filesystem::remove(state);
  go.release();
  EXPECT_THAT(daemon.await("StoreFailed")["error"].get<std::string>(),
              AllOf(HasSubstr(state + "\" was removed"), HasSubstr("put it back, or restart")));

  // Nor does anybody else, who would end what the first one runs.
  for (const char* suffix : {"-owner", "-wal", "-shm"}) std::filesystem::remove(state + suffix);
  const Ended second = run_to_end(arguments());
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err,
              HasSubstr("process " + std::to_string(daemon.id()) + " still works on this state"));
}

TEST_F(DutifulRun, goes_on_when_its_state_is_back) {
  const Fifo go = fifo("go");
  write(impatient_task("a", "read x < " + go.path() + "; exit 1"));
  Process daemon{arguments({"--kill-grace", "50ms"})};
  daemon.await("TaskRunStarted", "a");
  std::filesystem::rename(state, directory.file("away"));
  go.release();
  daemon.await("StoreFailed");
  std::filesystem::rename(directory.file("away"), state);
  daemon.await("TaskRunStarted", "a");

  daemon.signal(SIGTERM);
  daemon.await("SchedulerStopRequested");
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, says_what_is_wrong_before_it_does_anything) {
  EXPECT_EQ(run_to_end(arguments()).status, 2);  // there is no file
  write("[[task]]\nname = \"a\"\ncron = \"bad\"\nrun = \"true\"\n");
  const Ended invalid = run_to_end(arguments());
  EXPECT_EQ(invalid.status, 1);
  EXPECT_THAT(invalid.err, AllOf(HasSubstr(file + ":3:"), HasSubstr("retry")));
  EXPECT_FALSE(std::filesystem::exists(state));

  write(task("a", "true"));
  EXPECT_EQ(run_to_end(arguments({"--grace", "soon"})).status, 2);
  EXPECT_EQ(run_to_end(arguments({"--max-concurrent", "-1"})).status, 2);
  EXPECT_THAT(run_to_end(arguments({"--history", "9223372036854775808"})).err,
              HasSubstr("--history: \"9223372036854775808\" is too large"));
  EXPECT_THAT(run_to_end(arguments({"--history", "99999999999999999999"})).err,
              HasSubstr("is too large"));
  EXPECT_EQ(run_to_end(arguments({"--listen", "localhost:80"})).status, 2);
  const Ended unwritable = run_to_end(arguments({"--state", "/proc/no/such"}));
  EXPECT_EQ(unwritable.status, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("/proc/no/such"));
}

TEST_F(DutifulRun, shows_status_and_history_while_it_runs) {
  const Fifo ready = fifo("ready");
  write(task("a", "echo fine") + task("b", "echo no such host; exit 7") +
        task("c", "echo here > " + ready.path() + "; exec sleep 1000") +
        "[[task]]\nname = \"d\"\ncron = \"* * * * *\"\nretry = \"1h\"\nrun = [\"/no/such\"]\n");
  Process daemon{arguments({"--kill-grace", "50ms"})};
  ready.read_text();
  daemon.await("TaskRunFailed", "d");

  const auto tasks = nlohmann::json::parse(run_to_end({"status", "--state", file, "--json"}).out);
  ASSERT_EQ(tasks.size(), 4U);
  EXPECT_EQ(tasks[2]["state"], "Running");
  EXPECT_EQ(tasks[3]["state"], "AwaitingRetry");
  EXPECT_THAT(run_to_end({"status", "--state", state}).out, HasSubstr("NEXT DUE\na "));

  daemon.signal(SIGTERM);
  daemon.await("SchedulerStopRequested");
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.end().status, 0);
  const std::string b = run_to_end({"history", "b", "--state", state}).out;
  EXPECT_THAT(b,
              AllOf(HasSubstr("(boot): exit status 7\n    no such host\n"), HasSubstr("failed")));
  const auto all = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  EXPECT_GE(all.size(), 4U);
}

TEST_F(DutifulRun, shows_names_in_json_as_they_are) {
  write(task(R"(C:\\temp\n)", "true"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "C:\\temp\n");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  for (const std::string command : {"status", "history"}) {
    const auto list = nlohmann::json::parse(run_to_end({command, "--state", state, "--json"}).out);
    EXPECT_EQ(list[0]["taskName"], "C:\\temp\n") << command;
  }
}

TEST_F(DutifulRun, keeps_so_many_runs_of_each_task) {
  write("[[task]]\nname = \"a\"\ncron = \"* * * * *\"\nretry = \"0s\"\nrun = \"exit 1\"\n");
  Process daemon{arguments({"--history", "3"})};
  for (int run = 0; run < 8; ++run) daemon.await("TaskRunFailed", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_GT(runs[0]["attempt"], runs[1]["attempt"]);
  EXPECT_EQ(runs[0]["reason"], "retry");
  EXPECT_GE(runs[0]["latenessMs"], 0);
}

TEST_F(DutifulRun, goes_on_where_the_history_cannot_be_written) {
  std::filesystem::create_directory(state + "-history");
  write("[[task]]\nname = \"a\"\ncron = \"* * * * *\"\nretry = \"0s\"\nrun = \"exit 1\"\n");
  Process daemon{arguments()};
  daemon.await("HistoryFailed");
  for (int run = 0; run < 3; ++run) daemon.await("TaskRunFailed", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, records_a_trace_across_a_kill_that_verify_accepts) {
  const std::string trace = directory.file("trace.jsonl");
  const Fifo ready = fifo("ready");
  write(task("a", "echo here > " + ready.path() + "; exec sleep 1000") + task("b", "true"));
  {
    Process daemon{arguments({"--trace", trace, "--verify"})};
    ready.read_text();
    daemon.await("TaskRunCompleted", "b");
    daemon.signal(SIGKILL);
    daemon.end();
  }
  write(task("a", "true") + task("b", "true"));
  Process daemon{arguments({"--trace", trace, "--verify"})};
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  Process verify{{"verify", "--json", trace}};
  const auto verdict = nlohmann::json::parse(verify.line().value());
  EXPECT_EQ(verdict["verdict"], "conforms") << verdict;
  EXPECT_EQ(verdict["open"].size(), 0U) << verdict;
  std::ifstream lines{trace};
  const std::string text{std::istreambuf_iterator<char>{lines}, {}};
  EXPECT_THAT(text, AllOf(HasSubstr("\"event\":\"Crash\""), HasSubstr("\"reason\":\"orphan\"")));
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

TEST_F(DutifulRun, keeps_the_output_of_commands_to_itself) {
  write(task("a", "echo secret"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_EQ(std::filesystem::status(state + "-history").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
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

TEST_F(DutifulRun, shows_what_a_kill_interrupted_until_it_has_run_again_and_after) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  write(task("a", "echo here > " + ready.path() + "; read go < " + go.path()));
  const auto status = [&] {
    return nlohmann::json::parse(run_to_end({"status", "--state", state, "--json"}).out).at(0);
  };
  const auto history = [&] {
    return nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  };
  std::string started;
  {
    Process daemon{arguments()};
    ready.read_text();
    EXPECT_EQ(status()["state"], "Running");
    EXPECT_EQ(status()["served"], true);
    EXPECT_EQ(status()["servedBy"]["process"], daemon.id());
    EXPECT_THAT(run_to_end({"status", "--state", state}).out,
                testing::StartsWith("served by process " + std::to_string(daemon.id()) + " since"));
    ASSERT_EQ(history().size(), 1U);
    EXPECT_EQ(history()[0]["result"], "running");
    EXPECT_EQ(history()[0]["success"], nullptr);
    EXPECT_THAT(run_to_end({"history", "--state", state}).out, HasSubstr("  a  running for "));
    started = history()[0]["startedAt"];
    daemon.signal(SIGKILL);
    daemon.end();
  }

  EXPECT_EQ(status()["state"], "Interrupted");
  EXPECT_EQ(status()["served"], false);
  EXPECT_EQ(status()["servedBy"], nullptr);
  EXPECT_THAT(run_to_end({"status", "--state", state}).out,
              AllOf(testing::StartsWith("nobody serves this state: process "),
                    HasSubstr("was killed or crashed"),
                    HasSubstr("\na     interrupted, will be run again  ")));
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0]["result"], "interrupted");
  EXPECT_EQ(history()[0]["success"], false);
  EXPECT_EQ(history()[0]["startedAt"], started);
  EXPECT_THAT(run_to_end({"history", "a", "--state", state}).out,
              HasSubstr("it will be run again"));

  Process daemon{arguments({"--grace", "0s", "--kill-grace", "50ms"})};  // the next minute may come
  EXPECT_EQ(daemon.await("TaskOrphaned", "a")["lastExecutionTime"], started);
  ready.read_text();
  EXPECT_EQ(status()["state"], "Running");
  go.release();
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  ASSERT_GE(history().size(), 2U);
  const auto interrupted = history().at(history().size() - 1);
  EXPECT_EQ(interrupted["result"], "interrupted");
  EXPECT_EQ(interrupted["startedAt"], started);
  EXPECT_EQ(interrupted["reason"], "boot");
  const auto again = history().at(history().size() - 2);
  EXPECT_EQ(again["result"], "succeeded");
  EXPECT_EQ(again["reason"], "orphan");
  EXPECT_EQ(again["pulse"], interrupted["pulse"]);
  EXPECT_GE(again["latenessMs"], 0);
  EXPECT_EQ(status()["served"], false);
  EXPECT_THAT(run_to_end({"status", "--state", state}).out,
              testing::StartsWith("nobody serves this state: nothing is run until"));
}

TEST_F(DutifulRun, remembers_the_interrupted_run_of_a_task_that_is_gone) {
  const Fifo ready = fifo("ready");
  write(task("a", "echo here > " + ready.path() + "; exec sleep 1000"));
  {
    Process daemon{arguments()};
    ready.read_text();
    daemon.signal(SIGKILL);
    daemon.end();
  }
  write("");
  Process daemon{arguments()};
  daemon.await("TaskRemoved", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_THAT(run_to_end({"history", "a", "--state", state}).out,
              HasSubstr("  a  interrupted  (boot): the daemon was killed or crashed while it ran"));
}

TEST_F(DutifulRun, forgets_nothing_where_it_cannot_start) {
  const Fifo ready = fifo("ready");
  std::string text = task("a", "echo here > " + ready.path() + "; exec sleep 1000");
  text.replace(text.find("1h"), 2, "366d");
  write(text);
  {
    Process daemon{arguments()};
    ready.read_text();
    daemon.signal(SIGKILL);
    daemon.end();
  }
  const auto shown = [&] {
    const std::string status = run_to_end({"status", "--state", state}).out;
    return status.substr(0, status.find('\n')) +  // who was killed
           run_to_end({"history", "--state", state, "--json"}).out;
  };
  const std::string before = shown();
  const std::string names = state + "-commands";
  std::filesystem::rename(names, directory.file("names"));
  std::filesystem::create_directory(names);
  const Ended refused = run_to_end(arguments());
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot be read: Is a directory"));
  EXPECT_THAT(refused.out, Not(HasSubstr("TaskRun")));
  EXPECT_EQ(shown(), before);  // no run more, and no attempt

  std::filesystem::remove(names);
  std::filesystem::rename(directory.file("names"), names);
  Process daemon{arguments({"--grace", "0s"})};
  daemon.await("LeftoversEnded");
  daemon.await("TaskOrphaned", "a");
  EXPECT_THAT(ready.read_text(), HasSubstr("here"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, takes_a_signal_that_came_while_it_read_its_file) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "[[task]]\nname = \"" + std::to_string(i) +
            "\"\ncron = \"0 0 1 1 *\"\nretry = \"1h\"\nrun = \"true\"\n";
  }
  write(text);
  // It waits from the first line of the command on.
  Process daemon{arguments()};
  const auto blocks = [&] {
    const std::string status = contents("/proc/" + std::to_string(daemon.id()) + "/status");
    const auto mask = status.find("SigBlk:");
    return mask != std::string::npos &&
           (std::stoull(status.substr(mask + 7), nullptr, 16) & 1) != 0;
  };
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!blocks() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  daemon.signal(SIGHUP);
  daemon.await("TaskFileLoaded");
  daemon.await("TaskFileLoaded");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
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

TEST_F(DutifulRun, keeps_its_table_narrow_for_a_long_name) {
  const std::string name(5000, 'n');
  write(task(name, "true") + task("short", "true"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "short");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  const std::string table = run_to_end({"status", "--state", state}).out;
  EXPECT_THAT(table, HasSubstr('\n' + name + "  "));
  const auto begin = table.find("\nshort ");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_LT(table.find('\n', begin + 1) - begin, 200U);
}

TEST_F(DutifulRun, shows_nothing_but_a_clear_error_where_there_is_no_state) {
  const auto error = [](const std::string& command, const std::string& where) {
    const Ended ended = run_to_end({command, "--state", where});
    EXPECT_EQ(ended.status, 2) << command << ' ' << where;
    EXPECT_EQ(ended.out, "");
    return ended.err;
  };
  for (const std::string command : {"status", "history"}) {
    EXPECT_THAT(error(command, state), AllOf(HasSubstr(state), HasSubstr("does not exist; give")));
    EXPECT_FALSE(std::filesystem::exists(state));
    EXPECT_THAT(error(command, directory.file("")), HasSubstr("is a directory; give the file"));
    EXPECT_THAT(error(command, "/dev/null"), HasSubstr("is not a regular file"));
    EXPECT_THAT(error(command, ""), HasSubstr("--state: an empty name"));
    const std::string other = directory.file("other.db");
    std::ofstream{other} << "something else, which is long enough to be read as a header of a file";
    EXPECT_THAT(error(command, other), HasSubstr("no SQLite database"));
  }
}

TEST_F(DutifulRun, leaves_nothing_beside_what_can_be_no_state) {
  write("");
  const std::string place = directory.file("place");
  std::filesystem::create_directories(place + "/directory");
  std::ofstream{place + "/text"} << "something else\n";
  std::filesystem::create_symlink("/dev/null", place + "/device");
  const auto error = [&](const std::string& name) {
    const Ended ended = run_to_end(arguments({"--state", place + '/' + name}));
    EXPECT_EQ(ended.status, 2) << name;
    return ended.err;
  };
  EXPECT_THAT(error("directory"), HasSubstr("is a directory; give the file"));
  EXPECT_THAT(error("device"), HasSubstr("is not a regular file"));
  EXPECT_THAT(error("text"), HasSubstr("no SQLite database"));
  EXPECT_FALSE(std::filesystem::exists("/dev/null-owner"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{place}, {}), 3);
}

// Nor beside a state that is not to be taken.
TEST_F(DutifulRun, leaves_nothing_where_it_is_refused) {
  write("");
  {
    Process daemon{arguments()};
    daemon.await("TaskFileLoaded");
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.end().status, 0);
  }
  const std::string place = directory.file("place");
  std::filesystem::create_directory(place);
  std::filesystem::create_hard_link(state, place + "/hard.db");
  const Ended refused = run_to_end(arguments({"--state", place + "/hard.db"}));
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("has several names"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{place}, {}), 1);
}

}  // namespace
}  // namespace dutiful
