// dutiful run: what it logs, and what dutiful status and dutiful history show.

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(DutifulRun, reports_the_loaded_file_before_it_starts_anything) {
  write(task("a", "true"));
  Process daemon{arguments()};
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  const std::string log = daemon.end().out;
  EXPECT_LT(log.find("TaskFileLoaded"), log.find("TaskRunStarted"));
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
