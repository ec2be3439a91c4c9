// dutiful run: on_failure, on_recovery and on_success.

#include <algorithm>
#include <chrono>
#include <thread>

#include <pwd.h>
#include <sqlite3.h>

#include "commands/run_in_test.h"
#include "support/another_user.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DutifulNotify : public DutifulRun {
 protected:
  // A script that fails as long as the file `broken` exists.
  std::string fails_while_broken() const { return "! test -e " + directory.file("broken"); }
  void set_broken(bool broken) const {
    if (broken) {
      std::ofstream{directory.file("broken")};
    } else {
      std::filesystem::remove(directory.file("broken"));
    }
  }
  // A notification that appends a line to a file.
  static std::string append(const std::string& text, const std::string& to) {
    return "'''echo \"" + text + "\" >> " + to + "'''\n";
  }
  // Waits until the file has so many lines.
  static std::string await_lines(const std::string& path, std::ptrdiff_t count) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
      std::string text = contents(path);
      if (std::ranges::count(text, '\n') >= count) return text;
      std::this_thread::yield();
    }
    throw std::runtime_error("missing lines: " + contents(path));
  }
  // How many processes of notifications run.
  static int notifications_of(const Process& daemon) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
      if (is_notification_of(daemon, entry.path())) ++count;
    }
    return count;
  }
  static bool is_notification_of(const Process& daemon, const std::string& place) try {
    if (!std::filesystem::is_regular_file(place + "/stat")) return false;
    const std::string status = contents(place + "/stat");  // "12 (sh) S PARENT …"
    const std::string parent = " " + std::to_string(daemon.id()) + " ";
    const auto name_end = status.rfind(')');
    if (name_end == std::string::npos || status.find(parent, name_end) != name_end + 3)
      return false;
    return contents(place + "/environ").find("DUTIFUL_NOTIFICATION=") != std::string::npos;
  } catch (const std::exception&) {
    return false;  // it has ended
  }
  void stop(Process& daemon) const {
    daemon.signal(SIGTERM);
    const Ended ended = daemon.end();
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  }

  // The sum of all failures in a row, as the file has it.
  std::int64_t failures_written() const {
    sqlite3* database = nullptr;
    sqlite3_stmt* sum = nullptr;
    std::int64_t failures = 0;
    sqlite3_open_v2((state + "-failures").c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    if (sqlite3_prepare_v2(database, "SELECT sum(failures) FROM streak", -1, &sum, nullptr) ==
            SQLITE_OK &&
        sqlite3_step(sum) == SQLITE_ROW) {
      failures = sqlite3_column_int64(sum, 0);
    }
    sqlite3_finalize(sum);
    sqlite3_close(database);
    return failures;
  }

  const std::string log = directory.file("log");
};

TEST_F(DutifulNotify, passes_the_run_in_the_environment_and_its_output_on_standard_input) {
  const Fifo heard = fifo("heard");
  write(task("a b",
             "echo first; echo no such host; exit 3",
             "directory = \"/\"\nenvironment = { MINE = \"yes\" }\n"
             "on_failure = '''exec > " +
                 heard.path() +
                 "; echo \"$DUTIFUL_TASK|$DUTIFUL_ATTEMPT|$DUTIFUL_RESULT|$DUTIFUL_ERROR|$MINE|"
                 "$PWD|$DUTIFUL_NOTIFICATION|$DUTIFUL_FAILURES\"; echo \"$DUTIFUL_KEY\"; "
                 "test \"$DUTIFUL_DURATION_MS\" -ge 0 && cat'''\n"));
  Process daemon{arguments()};
  const std::string text = heard.read_text();
  EXPECT_THAT(
      text,
      testing::StartsWith("a b|1|failed|exit status 3: no such host|yes|/|on_failure|1\na b@20"));
  EXPECT_THAT(text, testing::EndsWith("Z\nfirst\nno such host\n"));
  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  // A notification is no run.
  EXPECT_THAT(ended.out, Not(HasSubstr("Notification")));
  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  EXPECT_TRUE(std::ranges::all_of(
      runs, [](const auto& run) { return run["output"] == "first\nno such host\n"; }));
}

TEST_F(DutifulNotify, notifies_of_failures_recovery_and_success) {
  set_broken(true);
  write(impatient_task("a", fails_while_broken()) + "on_failure = " + append("bad", log) +
        "on_recovery = " + append("good after $DUTIFUL_FAILURES", log) +
        "on_success = " + append("$DUTIFUL_RESULT", directory.file("successes")));
  Process daemon{arguments()};
  await_lines(log, 3);  // at every failure
  EXPECT_FALSE(std::filesystem::exists(directory.file("successes")));
  set_broken(false);
  EXPECT_THAT(await_lines(directory.file("successes"), 1), testing::StartsWith("succeeded\n"));
  daemon.await("TaskRunCompleted", "a");
  stop(daemon);
  EXPECT_THAT(contents(log),
              AllOf(testing::StartsWith("bad\nbad\nbad\n"), HasSubstr("good after ")));
}

TEST_F(DutifulNotify, notifies_once_at_the_nth_failure_in_a_row) {
  set_broken(true);
  write(impatient_task("a", fails_while_broken()) + "notify_after = 3\non_failure = " +
        append("bad $DUTIFUL_FAILURES", log) + "on_recovery = " + append("good", log));
  Process daemon{arguments()};
  for (int i = 0; i < 6; ++i) daemon.await("TaskRunFailed", "a");
  set_broken(false);
  EXPECT_EQ(await_lines(log, 2), "bad 3\ngood\n");
  stop(daemon);
}

TEST_F(DutifulNotify, keeps_the_count_across_a_crash_and_a_restart) {
  const std::string text = task("a", "exit 1") +
                           "notify_after = 3\non_failure = " + append("bad $DUTIFUL_FAILURES", log);
  write(text);
  {
    Process daemon{arguments()};
    daemon.await("TaskRunFailed", "a");
    // The count is written in the background.
    const auto until = std::chrono::steady_clock::now() + patience;
    while (failures_written() < 1) ASSERT_LT(std::chrono::steady_clock::now(), until);
    daemon.signal(SIGKILL);
    daemon.end();
  }
  // A changed cron expression makes it a new task, which runs at once (K4, P2).
  const auto run_again = [&](const std::string& cron) {
    std::string changed = text;
    write(changed.replace(changed.find("* * * * *"), 9, cron));
    return Process{arguments({"--override", "reset_history"})};
  };
  {
    Process daemon = run_again("*  * * * *");
    daemon.await("TaskRunFailed", "a");
    stop(daemon);
  }
  // If the next minute began meanwhile, the task has failed once more; it is notified once anyway.
  Process daemon = run_again("* *  * * *");
  daemon.await("TaskRunFailed", "a");
  EXPECT_EQ(await_lines(log, 1), "bad 3\n");
  stop(daemon);
}

TEST_F(DutifulNotify, forgets_the_count_of_a_removed_task) {
  write(task("a", "exit 1", "on_failure = 'true'"));
  Process daemon{arguments({"--allow-empty"})};
  daemon.await("TaskRunFailed", "a");
  write("");
  daemon.signal(SIGHUP);
  daemon.await("TaskRemoved", "a");
  stop(daemon);
  EXPECT_EQ(failures_written(), 0);
}

TEST_F(DutifulNotify, follows_a_reload) {
  set_broken(true);
  write(impatient_task("a", fails_while_broken()) + "on_failure = " + append("old", log));
  Process daemon{arguments()};
  await_lines(log, 1);
  const std::string newer = directory.file("newer");
  write(impatient_task("a", fails_while_broken()) + "on_failure = " + append("new", newer));
  daemon.signal(SIGHUP);
  EXPECT_EQ(daemon.await("TaskChanged", "a")["changeType"], "on_failure");
  await_lines(newer, 1);

  // An empty string switches off what the defaults ask for.
  write("[defaults]\non_failure = " + append("default", log) +
        impatient_task("a", fails_while_broken()) + "on_failure = \"\"\n");
  daemon.signal(SIGHUP);
  daemon.await("TaskChanged", "a");
  for (int i = 0; i < 3; ++i) daemon.await("TaskRunFailed", "a");
  stop(daemon);
  EXPECT_THAT(contents(log), Not(HasSubstr("default")));
}

TEST_F(DutifulNotify, reports_a_notification_that_fails_and_nothing_more) {
  write(task("missing", "exit 1", "on_failure = [\"/no/such/program\"]") +
        task("failing", "exit 1", "on_failure = \"echo no route to host >&2; exit 9\"") +
        task("killed", "exit 1", "on_failure = \"kill -KILL $$\"") +
        task("nobody", "true", "on_success = [\"true\"]\nenvironment.PATH = \"/nowhere\""));
  Process daemon{arguments()};
  std::map<std::string, std::string> errors;
  while (errors.size() < 4) {
    const auto event = daemon.await("NotificationFailed");
    EXPECT_EQ(event["level"], "WARNING");
    EXPECT_EQ(event["notification"], event["taskName"] == "nobody" ? "on_success" : "on_failure");
    errors[event["taskName"]] = event["error"];
  }
  EXPECT_EQ(errors["missing"],
            "not started: \"/no/such/program\" or its interpreter does not exist");
  EXPECT_EQ(errors["failing"], "exit status 9: no route to host");
  EXPECT_EQ(errors["killed"], "killed by SIGKILL");
  EXPECT_EQ(errors["nobody"], "not started: no program \"true\" in PATH");
  stop(daemon);
}

TEST_F(DutifulNotify, does_not_mind_how_a_notification_treats_its_input_and_output) {
  const std::string big = "yes 0123456789 | head -c 1000000; exit 1";
  write(
      task("reads", big, "on_failure = " + append("reads $(wc -c)", log)) +
      task("closes", big, "on_failure = '''exec <&- >&- 2>&-; echo closes >> " + log + "'''") +
      task("ignores", big, "on_failure = " + append("ignores", log)) +
      task("shouts", big, "on_failure = '''yes | head -c 3000000; echo shouts >> " + log + "'''"));
  Process daemon{arguments({"--output"})};
  const std::string lines = await_lines(log, 4);
  for (const char* word : {"reads 8192\n", "closes\n", "ignores\n", "shouts\n"}) {
    EXPECT_THAT(lines, HasSubstr(word));
  }
  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, Not(HasSubstr("\"text\":\"y\"")));  // it is no output of a task
}

TEST_F(DutifulNotify, delays_nothing_and_is_ended_with_the_daemon) {
  const Fifo ready = fifo("ready");
  const Fifo held = fifo("held");
  // It leaves a child and ignores SIGTERM. The next run ends while it hangs.
  set_broken(true);
  write(impatient_task("a", fails_while_broken()) +
        "notify_after = 1\non_failure = '''trap '' TERM; exec 9> " + held.path() +
        "; (while :; do sleep 1; done) & echo here > " + ready.path() +
        "; while :; do sleep 1; done'''\n");
  const int holders = open(held.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Process daemon{arguments()};
  EXPECT_EQ(ready.read_text(), "here\n");
  for (int i = 0; i < 3; ++i) daemon.await("TaskRunFailed", "a");
  set_broken(false);
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();  // without a second signal
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("\"error\":\"killed with the daemon\""));
  // Nobody holds the pipe: nothing is left.
  char byte = 0;
  pollfd closed{.fd = holders, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&closed, 1, 60'000), 1);
  EXPECT_EQ(read(holders, &byte, 1), 0);
  close(holders);
}

TEST_F(DutifulNotify, is_ended_at_once_by_a_second_signal) {
  const Fifo ready = fifo("ready");
  write(
      task("a", "exit 1", "on_failure = '''echo here > " + ready.path() + "; exec sleep 1000'''"));
  Process daemon{arguments()};
  EXPECT_EQ(ready.read_text(), "here\n");
  daemon.signal(SIGTERM);
  daemon.signal(SIGINT);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, HasSubstr("terminated with the daemon: killed by SIGTERM"));
}

TEST_F(DutifulNotify, gets_a_moment_when_the_daemon_stops) {
  const Fifo go = fifo("go");
  write(task("a", "read line < " + go.path() + "; exit 1", "on_failure = " + append("late", log)));
  Process daemon{arguments()};
  daemon.await("TaskRunStarted", "a");
  daemon.signal(SIGTERM);
  daemon.await("SchedulerStopRequested");
  go.release();
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_EQ(contents(log), "late\n");
}

TEST_F(DutifulNotify, says_nothing_about_runs_that_the_daemon_terminates) {
  const Fifo ready = fifo("ready");
  write(task("a",
             "echo here > " + ready.path() + "; exec sleep 1000",
             "on_failure = " + append("bad", log)));
  Process daemon{arguments()};
  ready.read_text();
  daemon.signal(SIGTERM);
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_FALSE(std::filesystem::exists(log));
}

TEST_F(DutifulNotify, is_a_leftover_after_a_crash) {
  const Fifo ready = fifo("ready");
  const Fifo held = fifo("held");
  write(task("a",
             "exit 1",
             "on_failure = '''exec 9> " + held.path() + "; echo here > " + ready.path() +
                 "; exec sleep 1000'''"));
  const int holders = open(held.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  Process daemon{arguments()};
  EXPECT_EQ(ready.read_text(), "here\n");
  daemon.signal(SIGKILL);
  daemon.end();
  write("");
  Process next{arguments()};
  next.await("LeftoversEnded");
  char byte = 0;
  EXPECT_EQ(read(holders, &byte, 1), 0);
  close(holders);
  stop(next);
}

TEST_F(DutifulNotify, is_bounded_when_everything_fails_at_once) {
  constexpr int tasks = 1200;
  const Fifo never = fifo("never");
  std::string text = "[defaults]\non_failure = '''read line < " + never.path() + "'''\n";
  for (int i = 0; i < tasks; ++i) text += task("t" + std::to_string(i), "exit 1");
  write(text);
  Process daemon{arguments()};
  for (int failed = 0; failed < tasks; ++failed) daemon.await("TaskRunFailed");
  EXPECT_LE(notifications_of(daemon), 16);
  // Sixteen run and are terminated, a thousand wait, and the rest have been dropped.
  daemon.signal(SIGTERM);
  daemon.signal(SIGINT);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  std::int64_t dropped = 0;
  std::int64_t terminated = 0;
  int reports = 0;
  std::istringstream all{ended.out};
  for (std::string line; std::getline(all, line);) {
    const auto event = nlohmann::json::parse(line);
    if (event["event"] == "NotificationFailed") ++terminated;
    if (event["event"] != "NotificationsDropped") continue;
    dropped += event["count"].get<std::int64_t>();
    ++reports;
  }
  // If the next minute began meanwhile, there are more.
  EXPECT_GE(dropped + terminated, tasks);
  EXPECT_GE(dropped, 1000);
  EXPECT_LE(reports, 5);
}

TEST_F(DutifulNotify, runs_as_the_user_of_the_task) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  const passwd* user = getpwuid(another_user);
  ASSERT_NE(user, nullptr);
  const std::string open_directory = directory.file("open");
  std::filesystem::create_directory(open_directory);
  std::filesystem::permissions(directory.file(""), std::filesystem::perms::all);
  std::filesystem::permissions(open_directory, std::filesystem::perms::all);
  const std::string heard = open_directory + "/heard";
  write(task("a",
             "echo text; exit 1",
             std::string{"user = \""} + user->pw_name +
                 "\"\non_failure = '''echo \"$(id -u) $(cat /dev/stdin) $USER\" >> " + heard +
                 "'''"));
  Process daemon{arguments()};
  EXPECT_EQ(await_lines(heard, 1), "65534 text " + std::string{user->pw_name} + "\n");
  stop(daemon);
}

}  // namespace
}  // namespace dutiful
