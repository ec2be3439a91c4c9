// dutiful run: what it reports about the task file at the start and at a reload, and what it
// rejects.

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// A task that is not due today, so that no run adds events.
std::string idle_task(const std::string& name, const std::string& more = "") {
  return "[[task]]\nname = '" + name + "'\ncron = '0 0 1 1 *'\nretry = '1h'\n" +
         (more.find("run = ") == std::string::npos ? "run = 'true # " + name + "'\n" : "") + more +
         "\n";
}

TEST_F(DutifulRun, reports_the_warnings_of_check_at_the_start_and_at_a_reload) {
  write(idle_task("a", "directory = '/no/such/place'"));
  Process daemon{arguments()};
  const auto warning = daemon.await("TaskFileWarning");
  EXPECT_EQ(warning["level"], "WARNING");
  EXPECT_EQ(warning["file"], file);
  EXPECT_EQ(warning["line"], 1);
  EXPECT_EQ(warning["column"], 1);
  const std::string text = warning["warning"];
  EXPECT_EQ(text, "task \"a\" runs in the directory \"/no/such/place\", which does not exist");
  EXPECT_THAT(run_to_end({"check", file}).err, EndsWith(":1:1: warning: " + text + '\n'));

  write(idle_task("a") + idle_task("b", "run = ['no-such-program']"));
  daemon.signal(SIGHUP);
  daemon.await("TaskFileLoaded");
  EXPECT_THAT(daemon.await("TaskFileWarning")["warning"].get<std::string>(),
              HasSubstr("task \"b\" runs the program \"no-such-program\""));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, does_not_flood_its_log_with_warnings) {
  std::string text;
  for (int i = 0; i < 152; ++i) text += idle_task(std::to_string(i), "run = 'true'");
  write(text);
  Process daemon{arguments()};
  auto last = daemon.await("TaskFileWarning");
  for (int count = 1; count < 101; ++count) last = daemon.await("TaskFileWarning");
  EXPECT_EQ(last["warning"], "51 more warnings; see dutiful check");
  EXPECT_FALSE(last.contains("line"));
  daemon.signal(SIGTERM);
  EXPECT_THAT(daemon.end().out, Not(HasSubstr("52 more")));
}

TEST_F(DutifulRun, reports_what_a_reload_changes_in_a_task) {
  write(idle_task("a") + idle_task("b"));
  Process daemon{arguments()};
  daemon.await("TaskFileLoaded");

  write(idle_task("b") + idle_task("a", "timeout = '90s'"));
  daemon.signal(SIGHUP);
  auto change = daemon.await("TaskChanged");
  EXPECT_EQ(change["level"], "INFO");
  EXPECT_EQ(change["taskName"], "a");
  EXPECT_EQ(change["changeType"], "timeout");
  EXPECT_EQ(change["oldTimeoutMs"], 0);
  EXPECT_EQ(change["newTimeoutMs"], 90'000);
  daemon.await("TaskFileLoaded");

  write(idle_task("a", "timeout = '90s'") +
        idle_task("b", "run = 'false'\nenvironment.TOKEN = 'secret'"));
  daemon.signal(SIGHUP);
  change = daemon.await("TaskChanged");
  EXPECT_EQ(change["taskName"], "b");
  EXPECT_EQ(change["changeType"], "run,environment");
  EXPECT_FALSE(change.contains("newTimeoutMs"));
  daemon.await("TaskFileLoaded");

  daemon.signal(SIGTERM);
  const std::string log = daemon.end().out;
  EXPECT_THAT(log, Not(HasSubstr("secret")));
  EXPECT_EQ(log.find("TaskChanged"), log.find("TaskChanged\",\"taskName\":\"a\""));
}

TEST_F(DutifulRun, says_once_that_a_rejected_reload_changes_nothing) {
  write(idle_task("a"));
  Process daemon{arguments()};
  daemon.await("TaskFileLoaded");
  write("[[task]]\nname = 'b'\ncron = 'no'\nretry = 'no'\nrun = 'true'\n");
  daemon.signal(SIGHUP);
  EXPECT_THAT(daemon.await("TaskFileRejected")["error"].get<std::string>(),
              AllOf(HasSubstr(file + ":3:"), Not(HasSubstr("the tasks stay as they were"))));
  EXPECT_THAT(daemon.await("TaskFileRejected")["error"].get<std::string>(),
              AllOf(HasSubstr(file + ":4:"), EndsWith("; the tasks stay as they were")));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, rejects_a_reload_that_would_remove_every_task) {
  write(idle_task("a"));
  Process daemon{arguments()};
  daemon.await("TaskFileLoaded");
  write("# all of it was here a moment ago\n");
  daemon.signal(SIGHUP);
  EXPECT_THAT(daemon.await("TaskFileRejected")["error"].get<std::string>(),
              AllOf(HasSubstr(file + " has no tasks"),
                    HasSubstr("--allow-empty"),
                    HasSubstr("the tasks stay as they were")));
  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, Not(HasSubstr("TaskRemoved")));
  EXPECT_EQ(nlohmann::json::parse(run_to_end({"status", "--state", state, "--json"}).out).size(),
            1U);
}

TEST_F(DutifulRun, lets_a_reload_remove_every_task_if_that_is_allowed) {
  write(idle_task("a"));
  Process daemon{arguments({"--allow-empty"})};
  daemon.await("TaskFileLoaded");
  write("");
  daemon.signal(SIGHUP);
  daemon.await("TaskRemoved", "a");
  EXPECT_EQ(daemon.await("TaskFileLoaded")["tasks"], 0);
  EXPECT_THAT(daemon.await("TaskFileWarning")["warning"].get<std::string>(),
              HasSubstr("the file has no tasks"));
}

// I7. An empty list that stays empty removes nothing, so it is accepted.
TEST_F(DutifulRun, starts_without_tasks_and_loads_tasks_later) {
  write("");
  Process daemon{arguments()};
  EXPECT_EQ(daemon.await("TaskFileLoaded")["tasks"], 0);
  daemon.signal(SIGHUP);
  EXPECT_EQ(daemon.await("TaskFileLoaded")["tasks"], 0);
  write(idle_task("a"));
  daemon.signal(SIGHUP);
  daemon.await("TaskAdded", "a");
  EXPECT_EQ(daemon.await("TaskFileLoaded")["tasks"], 1);
}

}  // namespace
}  // namespace dutiful
