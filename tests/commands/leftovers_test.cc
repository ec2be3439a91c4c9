// dutiful run: what happens to the runs and leftovers of a daemon that was killed.

#include <sstream>

#include <sys/resource.h>
#include <sys/syscall.h>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(DutifulRun, never_restarts_a_command_beside_its_leftovers) {
  // The command and a descendant, which has forked twice into its own session, hold the lock while
  // they live.
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

  // Leftovers are killed even if there are no tasks any more, and if the state is reached through a
  // link.
  write("");
  const std::string link = directory.file("link.db");
  ASSERT_EQ(symlink(state.c_str(), link.c_str()), 0);
  Process daemon{arguments({"--state", link})};
  daemon.await("LeftoversEnded");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

// P8: the case that the key exists for.
TEST_F(DutifulRun, runs_an_interrupted_command_again_with_the_same_key_and_a_larger_fence) {
  const Fifo ready = fifo("ready");
  write(task("a",
             "echo $DUTIFUL_ATTEMPT $DUTIFUL_FENCE $DUTIFUL_KEY $DUTIFUL_PULSE > " + ready.path() +
                 "; exec sleep 1000"));
  std::vector<std::string> keys;
  for (const std::string attempt : {"1", "2", "3"}) {
    Process daemon{arguments()};
    std::istringstream values{ready.read_text()};
    std::string number;
    std::string fence;
    std::string pulse;
    values >> number >> fence >> keys.emplace_back() >> pulse;
    EXPECT_EQ(number, attempt);
    EXPECT_EQ(fence, attempt);
    EXPECT_EQ(keys.back(), "a@" + pulse);
    daemon.signal(SIGKILL);
    EXPECT_EQ(daemon.end().status, 128 + SIGKILL);
  }
  EXPECT_THAT(keys, testing::Each(keys.front()));

  write("");
  Process daemon{arguments()};
  daemon.await("LeftoversEnded");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, finds_leftovers_that_have_lost_their_environment) {
  // One process has cleared its environment, one has also left the session, as su does, and one has
  // overwritten it with a title, as servers do.
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
        ASSERT_LT(std::chrono::steady_clock::now(), until) << "the environment is still visible";
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

TEST_F(DutifulRun, leaves_background_processes_alone_after_a_clean_stop) {
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

TEST_F(DutifulRun, leaves_background_processes_of_finished_runs_alone_after_a_crash) {
  // One service in its own session, and one in the session of its command.
  const Fifo ready = fifo("ready");
  const Fifo also_ready = fifo("also_ready");
  const Fifo go = fifo("go");
  const Fifo interrupted = fifo("interrupted");
  const auto serve = [&](const Fifo& started) {
    return " sh -c 'echo $$ > " + started.path() + "; read go < " + go.path() +
           "' > /dev/null 2>&1 &";
  };
  write(task("a", "(setsid" + serve(ready) + "); nohup" + serve(also_ready)) +
        task("b",
             "(setsid sh -c 'echo $$ > " + interrupted.path() +
                 "; exec sleep 1000' &); exec sleep 1000"));
  std::vector<int> services;
  const auto handle_of = [](const Fifo& started) {
    return static_cast<int>(syscall(SYS_pidfd_open, std::stoi(started.read_text()), 0));
  };
  int left = -1;
  {
    Process daemon{arguments()};
    services = {handle_of(ready), handle_of(also_ready)};
    left = handle_of(interrupted);
    daemon.await("TaskRunCompleted", "a");
    daemon.signal(SIGKILL);
    daemon.end();
  }
  write("");
  Process daemon{arguments()};
  EXPECT_GE(daemon.await("LeftoversEnded")["count"], 2);
  daemon.await("TaskFileLoaded");
  const auto has_ended = [](int handle, std::chrono::milliseconds wait) {
    pollfd death{.fd = handle, .events = POLLIN, .revents = 0};
    return poll(&death, 1, static_cast<int>(wait.count())) == 1;
  };
  EXPECT_TRUE(has_ended(left, std::chrono::milliseconds{0}));
  for (const int service : services) EXPECT_FALSE(has_ended(service, std::chrono::milliseconds{0}));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  for (const int service : services) {
    syscall(SYS_pidfd_send_signal, service, SIGKILL, nullptr, 0);
    EXPECT_TRUE(has_ended(service, patience));
    close(service);
  }
  close(left);
}

TEST_F(DutifulRun, reaps_descendants_that_have_lost_their_parent) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  write(
      task("a", "(setsid sh -c 'echo $$ > " + ready.path() + "; read go < " + go.path() + "' &)"));
  Process daemon{arguments()};
  const pid_t descendant = std::stoi(ready.read_text());
  daemon.await("TaskRunCompleted", "a");
  const std::string status = contents("/proc/" + std::to_string(descendant) + "/status");
  EXPECT_THAT(status, HasSubstr("PPid:\t" + std::to_string(daemon.id()) + '\n'));

  const int handle = static_cast<int>(syscall(SYS_pidfd_open, descendant, 0));
  go.release();
  pollfd death{.fd = handle, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&death, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())), 1);
  close(handle);
  // It is dead. Its parent reaps it a moment later, and nothing announces that.
  const auto until = std::chrono::steady_clock::now() + patience;
  while (kill(descendant, 0) == 0 && std::chrono::steady_clock::now() < until) sched_yield();
  EXPECT_EQ(kill(descendant, 0), -1);
}

TEST_F(DutifulRun, shows_an_interrupted_run_before_and_after_its_restart) {
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
                testing::StartsWith("held by process " + std::to_string(daemon.id()) + " since"));
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
              AllOf(testing::StartsWith("no daemon is running on this state: process "),
                    HasSubstr("was killed or crashed"),
                    HasSubstr("\na     interrupted, will be restarted  ")));
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0]["result"], "interrupted");
  EXPECT_EQ(history()[0]["success"], false);
  EXPECT_EQ(history()[0]["startedAt"], started);
  EXPECT_THAT(run_to_end({"history", "a", "--state", state}).out,
              HasSubstr("the run will be restarted"));

  Process daemon{
      arguments({"--grace", "0s", "--kill-grace", "50ms"})};  // the next minute may begin
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
              testing::StartsWith("no daemon is running on this state; start one"));
}

TEST_F(DutifulRun, keeps_the_interrupted_run_of_a_removed_task_in_the_history) {
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
              HasSubstr("  a  interrupted  (boot): no result was recorded: the daemon was killed "
                        "or crashed, or could not write its state"));
}

// No process was killed, and no message may claim it.
TEST_F(DutifulRun, does_not_claim_a_crash_if_the_end_of_a_run_could_not_be_recorded) {
  const Fifo ready = fifo("ready");
  const Fifo go = fifo("go");
  write(task("a", "echo here > " + ready.path() + "; read go < " + go.path()));
  {
    Process daemon{arguments(), {}, {}, [] { return std::signal(SIGXFSZ, SIG_IGN) != SIG_ERR; }};
    ready.read_text();
    const rlimit full{.rlim_cur = 0, .rlim_max = 0};
    ASSERT_EQ(prlimit(daemon.id(), RLIMIT_FSIZE, &full, nullptr), 0);
    daemon.signal(SIGTERM);
    daemon.await("SchedulerStopRequested");
    go.release();
    const Ended ended = daemon.end();
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("the end of a run could not be recorded"));
  }
  const Ended status = run_to_end({"status", "--state", state});
  EXPECT_THAT(status.out,
              AllOf(Not(HasSubstr("was killed or crashed")), HasSubstr("will be restarted")));
  EXPECT_THAT(run_to_end({"history", "--state", state}).out,
              HasSubstr("no result was recorded: the daemon was killed or crashed, or could not "
                        "write its state; the run will be restarted"));
  write(task("a", "true"));
  Process daemon{arguments({"--log", "human"})};
  daemon.await_text("was interrupted and is restarted");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, changes_nothing_if_it_cannot_start) {
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
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("-commands\" is a directory"));
  EXPECT_THAT(refused.out, Not(HasSubstr("TaskRun")));
  EXPECT_EQ(shown(), before);  // no new run and no new attempt

  std::filesystem::remove(names);
  std::filesystem::rename(directory.file("names"), names);
  Process daemon{arguments({"--grace", "0s"})};
  daemon.await("LeftoversEnded");
  daemon.await("TaskOrphaned", "a");
  EXPECT_THAT(ready.read_text(), HasSubstr("here"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, refuses_a_damaged_list_of_commands_as_a_state_that_cannot_be_used) {
  const Fifo ready = fifo("ready");
  write(task("a", "echo here > " + ready.path() + "; exec sleep 1000"));
  {
    Process daemon{arguments()};
    ready.read_text();
    daemon.signal(SIGKILL);
    daemon.end();
  }
  const std::string names = state + "-commands";
  const std::string whole = contents(names);
  for (const std::string& damaged : {std::string{}, std::string(20, '\0')}) {
    std::ofstream{names, std::ios::trunc} << damaged;
    const Ended refused = run_to_end(arguments());
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("cannot be used: \"" + names + "\" is damaged"));
    EXPECT_EQ(contents(names), damaged);
  }

  std::ofstream{names, std::ios::trunc} << whole;
  write("");
  Process daemon{arguments()};
  daemon.await("LeftoversEnded");
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

}  // namespace
}  // namespace dutiful
