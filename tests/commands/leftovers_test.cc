// dutiful run: what a daemon that was killed has left, and what of it goes on.

#include <sstream>

#include <sys/resource.h>
#include <sys/syscall.h>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

// P8: the one case that a key is for.
TEST_F(DutifulRun, runs_an_interrupted_command_again_with_the_same_key_and_a_larger_fence) {
  const Fifo ready = fifo("ready");
  write(task("a",
             "echo $DUTIFUL_ATTEMPT $DUTIFUL_FENCE $DUTIFUL_KEY $DUTIFUL_PULSE > " + ready.path() +
                 "; exec sleep 1000"));
  std::vector<std::string> keys;
  for (const std::string attempt : {"1", "2", "3"}) {
    Process daemon{arguments()};
    std::istringstream told{ready.read_text()};
    std::string number;
    std::string fence;
    std::string pulse;
    told >> number >> fence >> keys.emplace_back() >> pulse;
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

TEST_F(DutifulRun, leaves_alone_what_a_finished_run_left_on_purpose_also_after_a_crash) {
  // One service in a session of its own, and one in that of its command.
  const Fifo ready = fifo("ready");
  const Fifo also_ready = fifo("also_ready");
  const Fifo go = fifo("go");
  const Fifo interrupted = fifo("interrupted");
  const auto serve = [&](const Fifo& told) {
    return " sh -c 'echo $$ > " + told.path() + "; read go < " + go.path() + "' > /dev/null 2>&1 &";
  };
  write(task("a", "(setsid" + serve(ready) + "); nohup" + serve(also_ready)) +
        task("b",
             "(setsid sh -c 'echo $$ > " + interrupted.path() +
                 "; exec sleep 1000' &); exec sleep 1000"));
  std::vector<int> services;
  const auto handle_of = [](const Fifo& told) {
    return static_cast<int>(syscall(SYS_pidfd_open, std::stoi(told.read_text()), 0));
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
              testing::StartsWith("no daemon is running on this state; start one"));
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
              HasSubstr("  a  interrupted  (boot): no result was recorded: the daemon was killed "
                        "or crashed, or could not write its state"));
}

// Nobody died there, and nothing that is told says so.
TEST_F(DutifulRun, says_only_what_is_known_of_a_run_whose_end_could_not_be_recorded) {
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
  daemon.await_text("was interrupted; it is restarted");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
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
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("-commands\" is a directory"));
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
