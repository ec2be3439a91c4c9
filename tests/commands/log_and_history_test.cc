// dutiful run: what it logs, and what dutiful status and dutiful history show.

#include <map>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A terminal on which the program writes its log and its errors.
class Terminal {
 public:
  Terminal() : ours_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    if (grantpt(ours_) != 0 || unlockpt(ours_) != 0) throw std::runtime_error("no terminal");
    its_ = open(ptsname(ours_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~Terminal() {
    close(its_);
    close(ours_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Runs the program to its end, and returns what it has written. It must fit into the terminal.
  std::string run_to_end(const std::vector<std::string>& arguments) const {
    Process program{arguments, {}, {}, [this] {
                      return dup2(its_, STDOUT_FILENO) >= 0 && dup2(its_, STDERR_FILENO) >= 0;
                    }};
    program.end();
    std::string text;
    char chunk[4096];
    for (ssize_t size = 0; (size = read(ours_, chunk, sizeof chunk)) > 0;) {
      text.append(chunk, static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int ours_;
  int its_;
};

TEST_F(DutifulRun, does_not_repeat_on_a_terminal_why_it_cannot_start) {
  write("");
  std::filesystem::create_directory(state + "-commands");
  const auto times_said = [](const std::string& text) {
    int count = 0;
    const std::string cause = " is a directory";
    for (auto at = text.find(cause); at != std::string::npos; at = text.find(cause, at + 1))
      ++count;
    return count;
  };
  const Terminal terminal;
  const std::string shown = terminal.run_to_end(arguments());
  EXPECT_EQ(times_said(shown), 1) << shown;
  EXPECT_THAT(shown, HasSubstr("dutiful: The state "));

  // A log that does not go to a terminal, or that programs read, is complete.
  const Ended human = run_to_end(arguments({"--log", "human"}));
  EXPECT_THAT(human.out, HasSubstr("cannot load the tasks: "));
  EXPECT_EQ(times_said(human.err), 1);
  const std::string json = terminal.run_to_end(arguments({"--log", "json"}));
  EXPECT_THAT(json, HasSubstr("SchedulerInitializationFailed"));
  EXPECT_EQ(times_said(json), 2);
}

TEST_F(DutifulRun, reports_the_loaded_file_before_it_starts_anything) {
  write(task("a", "true"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  const std::string log = daemon.end().out;
  EXPECT_LT(log.find("TaskFileLoaded"), log.find("TaskRunStarted"));
}

TEST_F(DutifulRun, logs_the_process_and_the_exit_status_or_signal_of_each_run) {
  write(task("exits", "echo $$ > " + directory.file("pid") + "; exit 3") +
        task("dies", "kill -KILL $$") + task("works", "true") +
        "[[task]]\nname = \"missing\"\ncron = \"* * * * *\"\nrun = [\"/no/such/program\"]\n"
        "retry = \"1h\"\n");
  Process daemon{arguments()};
  std::map<std::string, nlohmann::json> ends;
  while (ends.size() < 4) {
    const auto event = nlohmann::json::parse(daemon.line().value());
    const std::string name = event["event"];
    if (name == "TaskRunStarted") {
      EXPECT_EQ(event["reason"], "boot");
      EXPECT_EQ(event["attempt"], 1);
    }
    if (name == "TaskRunCompleted" || name == "TaskRunFailed")
      ends.emplace(event["taskName"], event);
  }
  for (const auto& [name, end] : ends) {
    EXPECT_EQ(end["reason"], "boot") << end;
    EXPECT_EQ(end["attempt"], 1) << end;
  }
  EXPECT_EQ(std::to_string(ends["exits"]["processId"].get<int>()) + "\n",
            contents(directory.file("pid")));
  EXPECT_EQ(ends["exits"]["exitStatus"], 3);
  EXPECT_FALSE(ends["exits"].contains("signal"));
  EXPECT_EQ(ends["dies"]["signal"], SIGKILL);
  EXPECT_FALSE(ends["dies"].contains("exitStatus"));
  EXPECT_EQ(ends["works"]["exitStatus"], 0);
  EXPECT_GT(ends["works"]["processId"], 1);
  EXPECT_FALSE(ends["missing"].contains("processId"));
  EXPECT_FALSE(ends["missing"].contains("exitStatus"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, logs_the_output_of_commands_if_asked_and_no_line_can_be_forged) {
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

TEST_F(DutifulRun, is_healthy_while_it_runs_and_nothing_fails) {
  const auto check = [&](std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"status", "--check", "--max-overdue", "1m", "--state", state});
    return run_to_end(more);
  };
  EXPECT_EQ(check().status, 1);  // there is no state yet
  const std::string broken = directory.file("broken");
  write(impatient_task("a", "! test -e " + broken));
  std::ofstream{broken} << "";
  std::optional<Process> daemon{std::in_place, arguments()};
  daemon->await("TaskRunFailed", "a");
  const Ended failing = check();
  EXPECT_EQ(failing.status, 1);
  EXPECT_EQ(failing.out, "1 task is failing: a (has never succeeded)\n");
  EXPECT_EQ(check({"--allow", "failing"}).status, 0);
  const auto shown = run_to_end({"status", "--json", "--state", state}).out;
  EXPECT_EQ(nlohmann::json::parse(shown)[0]["lastError"], "exit status 1");

  std::filesystem::remove(broken);

  daemon->await("TaskRunCompleted", "a");
  const Ended healthy = check();
  EXPECT_EQ(healthy.status, 0) << healthy.out;
  EXPECT_EQ(healthy.out, "ok: 1 task\n");
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->end().status, 0);
  EXPECT_EQ(check().out, "no daemon is running on this state\n");
}

// It shows each run once, whatever happens to the daemon.
TEST_F(DutifulRun, is_followed_across_a_restart) {
  write(impatient_task("a", "echo $DUTIFUL_ATTEMPT; false"));
  std::optional<Process> daemon{std::in_place, arguments()};
  daemon->await("TaskRunFailed", "a");
  Process follower{{"history", "--follow", "--json", "--failed", "a", "--state", state}};
  std::int64_t last = nlohmann::json::parse(follower.line().value())["id"];
  const auto await_next = [&] {
    const auto run = nlohmann::json::parse(follower.line().value());
    EXPECT_EQ(run["id"], last + 1) << run;
    last = run["id"];
  };
  for (int runs = 0; runs < 5; ++runs) await_next();
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->end().status, 0);
  const auto history = [&] {
    return nlohmann::json::parse(
        run_to_end({"history", "--json", "--count", "1", "--state", state}).out);
  };
  const std::int64_t before = history()[0]["id"];
  while (last < before) await_next();

  daemon.emplace(arguments());
  for (int runs = 0; runs < 5; ++runs) await_next();

  follower.signal(SIGINT);
  const Ended ended = follower.end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
}

TEST_F(DutifulRun, is_no_longer_followed_if_nobody_reads) {
  write(task("a", "true"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "a");
  const std::string status = directory.file("status");
  const std::string line = "{ " DUTIFUL_PROGRAM " history --follow --state " + state +
                           " 2>&1; echo $? > " + status + "; } | head -n 1 | grep -q succeeded";
  // The shell waits for the whole pipeline.
  EXPECT_EQ(std::system(line.c_str()), 0);  // NOLINT(cert-env33-c)
  EXPECT_EQ(contents(status), "0\n");
}

TEST_F(DutifulRun, keeps_as_much_of_the_output_as_it_is_told) {
  write(task("a", "echo 0123456789; false"));
  Process daemon{arguments({"--history", "5,1d", "--history-output", "4"})};
  // The reason of a failure is not shortened.
  EXPECT_EQ(daemon.await("TaskRunFailed", "a")["error"], "exit status 1: 0123456789");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  EXPECT_EQ(runs.back()["output"], "789\n");
  EXPECT_EQ(runs.back()["outputBytes"], 11);
  EXPECT_GT(runs.back()["processId"], 1);
}

TEST_F(DutifulRun, logs_the_output_of_background_processes_and_lets_them_live) {
  const Fifo go = fifo("go");
  const Fifo fate = fifo("fate");
  write(task("a",
             "echo early; (cat " + go.path() +
                 "; test $? = 0 && fate=lives; echo ${fate:-died} > " + fate.path() + ") &"));
  Process daemon{arguments({"--output"})};
  EXPECT_EQ(daemon.await("TaskOutput", "a")["text"], "early");
  daemon.await("TaskRunCompleted", "a");

  go.release();

  while (daemon.await("TaskOutput", "a")["text"] != "go") {
    // The next minute may have begun.
  }
  EXPECT_THAT(fate.read_text(), testing::StartsWith("lives\n"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", file, "--json"}).out);
  EXPECT_EQ(runs.back()["output"], "early\n");
}

TEST_F(DutifulRun, reads_a_gigabyte_of_output_in_little_memory) {
#ifdef DUTIFUL_PLAIN_BUILD
  constexpr std::int64_t bytes = 1'073'741'824;
#else
  constexpr std::int64_t bytes = 67'108'864;  // a sanitizer takes its time, and measures no memory
#endif
  write(task("flood", "yes | head -c " + std::to_string(bytes)));
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
  EXPECT_EQ(runs[0]["outputBytes"], bytes);
  EXPECT_LE(runs[0]["output"].get<std::string>().size(), 8192U);
}

TEST_F(DutifulRun, does_not_block_on_a_log_that_nobody_reads) {
  const Fifo ready = fifo("ready");
  const std::string line(200, 'x');
  write(task("flood", "yes " + line + " | head -c 20000000; echo flooded > " + ready.path()));
  Process daemon{arguments({"--output"})};
  EXPECT_EQ(ready.read_text(), "flooded\n");
  daemon.signal(SIGTERM);
  // Every line of the log is an event, also the line that reports how many are missing.
  EXPECT_GT(daemon.await("LogLinesDropped")["count"], 1000);
  daemon.await("TaskRunCompleted", "flood");
  daemon.await("SchedulerStopped");
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, ends_even_if_nobody_reads_its_log) {
  const Fifo ready = fifo("ready");
  write(task("flood", "yes | head -c 1000000; echo flooded > " + ready.path()));
  Process daemon{arguments({"--output"})};
  EXPECT_EQ(ready.read_text(), "flooded\n");
  daemon.signal(SIGTERM);
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(daemon.id()), &end, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(end.si_code, CLD_EXITED);
  EXPECT_EQ(end.si_status, 0);
}

TEST_F(DutifulRun, reports_a_failure_and_retries_while_other_tasks_write_endlessly) {
  std::string text = impatient_task("failing", "exit 1");
  for (const char* name : {"a", "b", "c", "d"}) text += task(name, "exec yes");
  write(text);
  Process daemon{arguments({"--output", "--kill-grace", "50ms"})};
  // However busy the host is, the other tasks write some thousand lines per attempt, not a million.
  std::size_t output = 0;
  for (int attempts = 0; attempts < 5;) {
    const std::string line = daemon.line().value();
    output += line.find("TaskOutput") != std::string::npos ? 1 : 0;
    attempts += line.find("TaskRunFailed") != std::string::npos ? 1 : 0;
    ASSERT_LT(output, 1'000'000U) << "lines, and " << attempts << " attempts";
  }
  daemon.signal(SIGTERM);
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, lets_no_other_user_read_the_output_of_commands) {
  write(task("a", "echo secret"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_EQ(std::filesystem::status(state + "-history").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DutifulRun, shows_status_and_history_while_it_runs) {
  const Fifo ready = fifo("ready");
  write(task("a", "echo fine") + task("b", "echo no such host; exit 7") +
        task("c", "echo here > " + ready.path() + "; exec sleep 1000") +
        "[[task]]\nname = \"d\"\ncron = \"* * * * *\"\nretry = \"1h\"\nrun = [\"/no/such\"]\n");
  Process daemon{arguments({"--kill-grace", "50ms"})};
  ready.read_text();
  std::set<std::string> failed;  // in either order, and b before the stop
  while (failed.size() < 2) failed.insert(daemon.await("TaskRunFailed")["taskName"]);

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

TEST_F(DutifulRun, shows_names_unchanged_in_json) {
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

// V: C1 controls, separators and bidirectional controls, which JSON allows unescaped.
TEST_F(DutifulRun, escapes_control_characters_in_all_json_output) {
  const std::string name = "\u009b31m\u202e\u2066\u2028x";
  const std::string escaped = R"(\u009b31m\u202e\u2066\u2028x)";
  write(task(name, "printf '%s' \"$DUTIFUL_TASK\"; exit 1"));
  Process daemon{arguments({"--output"})};
  daemon.await("TaskRunFailed", name);
  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);

  const auto expect_escaped = [&](const std::string& json, const std::string& field) {
    EXPECT_THAT(json, HasSubstr('"' + field + "\":\"" + escaped)) << field;
    for (const char* control : {"\u009b", "\u202e", "\u2066", "\u2028"})
      EXPECT_THAT(json, Not(HasSubstr(control))) << field;
  };
  expect_escaped(ended.out, "taskName");
  expect_escaped(ended.out, "text");
  const std::string status = run_to_end({"status", "--state", state, "--json"}).out;
  expect_escaped(status, "taskName");
  const std::string history = run_to_end({"history", "--state", state, "--json"}).out;
  expect_escaped(history, "taskName");
  expect_escaped(history, "output");
  EXPECT_EQ(nlohmann::json::parse(history)[0]["output"], name);
}

TEST_F(DutifulRun, keeps_a_limited_number_of_runs_per_task) {
  write("[[task]]\nname = \"a\"\ncron = \"* * * * *\"\nretry = \"0s\"\nrun = \"exit 1\"\n");
  Process daemon{arguments({"--history", "3"})};
  for (int run = 0; run < 8; ++run) daemon.await("TaskRunFailed", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_GE(runs[0]["startedAt"], runs[1]["startedAt"]);
  EXPECT_GE(runs[1]["startedAt"], runs[2]["startedAt"]);
  EXPECT_GE(runs[0]["latenessMs"], 0);
  // If a minute has just begun, one of them is not a retry.
  int retries = 0;
  for (const auto& run : runs) retries += run["reason"] == "retry" ? 1 : 0;
  EXPECT_GE(retries, 2);
}

TEST_F(DutifulRun, continues_if_the_history_cannot_be_written) {
  std::filesystem::create_directory(state + "-history");
  write("[[task]]\nname = \"a\"\ncron = \"* * * * *\"\nretry = \"0s\"\nrun = \"exit 1\"\n");
  Process daemon{arguments()};
  EXPECT_THAT(daemon.await("HistoryFailed")["error"].get<std::string>(),
              HasSubstr("is a directory; move it away"));
  EXPECT_THAT(run_to_end({"history", "--state", state}).err,
              HasSubstr("-history\" is a directory; move it away"));
  for (int run = 0; run < 3; ++run) daemon.await("TaskRunFailed", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, keeps_runs_until_the_history_can_be_written) {
  const std::string history = state + "-history";
  const Fifo go = fifo("go");
  std::filesystem::create_directory(history);
  write(task("a", waits_once(go)));
  Process daemon{arguments()};
  const auto failure = daemon.await("HistoryFailed");
  EXPECT_THAT(failure["error"].get<std::string>(), HasSubstr("is a directory; move it away"));
  EXPECT_EQ(failure["lost"], 0);
  EXPECT_TRUE(failure.contains("nextTryAt"));
  go.release();
  daemon.await("TaskRunCompleted", "a");
  std::filesystem::remove(history);
  const auto recovery = daemon.await("HistoryRecovered");
  EXPECT_GE(recovery["written"], 1);
  EXPECT_EQ(recovery["lost"], 0);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  EXPECT_GE(runs.size(), 1);
}

TEST_F(DutifulRun, reports_how_many_runs_are_missing_from_the_history_when_it_ends) {
  const Fifo go = fifo("go");
  std::filesystem::create_directory(state + "-history");
  write(task("a", waits_once(go)));
  Process daemon{arguments()};
  daemon.await("HistoryFailed");
  go.release();
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  const auto failure = daemon.await("HistoryFailed");
  EXPECT_GE(failure["lost"], 1);
  EXPECT_EQ(failure["waiting"], 0);
  EXPECT_FALSE(failure.contains("nextTryAt"));
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulRun, sets_a_damaged_trace_aside_and_starts_a_new_one) {
  const std::string trace = directory.file("trace.jsonl");
  const auto run_once = [&] {
    write(task("a", "true"));
    Process daemon{arguments({"--trace", trace, "--verify"})};
    daemon.await("TaskFileLoaded");
    daemon.signal(SIGTERM);
    return daemon.end();
  };
  ASSERT_EQ(run_once().status, 0);
  std::fstream{trace, std::ios::in | std::ios::out}.seekp(-20, std::ios::end)
      << std::string(5, '\0');

  const auto result = run_once();
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("\"TraceSetAside\""));
  EXPECT_THAT(result.out, HasSubstr("trace.jsonl.damaged-1\""));
  EXPECT_THAT(run_to_end({"verify", trace + ".damaged-1"}).out, HasSubstr("malformed at line "));
  EXPECT_THAT(run_to_end({"verify", trace}).out, testing::Not(HasSubstr("malformed")));
}

TEST_F(DutifulRun, keeps_its_table_narrow_for_a_long_name) {
  const std::string name(1000, 'n');
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

}  // namespace
}  // namespace dutiful
