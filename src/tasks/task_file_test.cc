#include "tasks/task_file.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <dutiful/cron.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// Problems as `check` shows them: "line:column: message".
std::vector<std::string> problems(std::string_view text) {
  std::vector<std::string> out;
  for (const Problem& problem : parse_task_file(text).problems) {
    out.push_back(std::to_string(problem.place.line) + ':' + std::to_string(problem.place.column) +
                  ": " + problem.message);
  }
  return out;
}

// A valid task, followed by other lines.
std::string task_with(std::string_view lines) {
  return std::string{"[[task]]\nname = \"a\"\ncron = \"* * * * *\"\n"}.append(lines) + '\n';
}

TEST(TaskFile, reads_the_example_of_the_format) {
  const TaskFile file = parse_task_file(R"(
[defaults]              # optional; any key of a task but name and cron
retry = "1m"

[[task]]
name = "backup"         # required, unique
cron = "15 3 * * 1-5"   # required, strict POSIX
run  = "pg_dump shop | gzip > /srv/shop.gz"   # string: /bin/sh -c; array of strings: executed directly
retry = "5m"            # required, here or in defaults: "0s", "250ms", "30s", "5m", "1h30m", "1d"
timeout = "30m"         # optional
directory = "/srv"      # optional
environment = { PGHOST = "db" }               # optional, added to the daemon's own
user = "postgres"       # optional, needs root

[[task]]
name = "direct"
cron = "* * * * *"
run = ["/bin/echo", "", "a b"]
)");

  EXPECT_THAT(file.problems, IsEmpty());
  ASSERT_THAT(file.tasks, SizeIs(2));
  const TaskDefinition& backup = file.tasks[0];
  EXPECT_EQ(backup.name, "backup");
  EXPECT_EQ(backup.cron, "15 3 * * 1-5");
  EXPECT_EQ(backup.retry_delay, 5min);
  EXPECT_EQ(backup.time_limit, 30min);
  EXPECT_EQ(backup.place, (Place{.line = 5, .column = 1}));
  EXPECT_EQ(backup.command,
            (Command{.arguments = {"/bin/sh", "-c", "pg_dump shop | gzip > /srv/shop.gz"},
                     .directory = "/srv",
                     .environment = {{"PGHOST", "db"}},
                     .user = "postgres"}));
  const TaskDefinition& direct = file.tasks[1];
  EXPECT_EQ(direct.retry_delay, 1min);
  EXPECT_EQ(direct.time_limit, 0s);
  EXPECT_EQ(direct.command, (Command{.arguments = {"/bin/echo", "", "a b"}}));
}

TEST(TaskFile, a_file_without_tasks_is_valid) {
  for (const char* text :
       {"", "\n", "# nothing yet\n", "\xef\xbb\xbf", "[defaults]\nretry = '1m'", "task = []"}) {
    EXPECT_THAT(problems(text), IsEmpty()) << text;
    EXPECT_THAT(parse_task_file(text).tasks, IsEmpty()) << text;
  }
}

TEST(TaskFile, byte_order_mark_and_carriage_returns_do_not_matter) {
  const std::string text =
      "\xef\xbb\xbf[[task]]\r\nname = \"a\"\r\ncron = \"* * * * *\"\r\nrun = \"true\"\r\n"
      "retry = \"1m\"\r\n";
  EXPECT_THAT(problems(text), IsEmpty());
  EXPECT_EQ(parse_task_file(text).tasks.at(0).place, (Place{.line = 1, .column = 1}));
}

TEST(TaskFile, defaults_fill_what_a_task_leaves_out) {
  const TaskFile file = parse_task_file(R"(
[[task]]
name = "a"
cron = "* * * * *"
environment = { A = "own" }
timeout = "0s"
[defaults]
run = "true"
retry = "0s"
timeout = "1h"
directory = "/tmp"
user = "nobody"
environment = { A = "default", B = "default" }
)");

  EXPECT_THAT(file.problems, IsEmpty());
  ASSERT_THAT(file.tasks, SizeIs(1));
  EXPECT_EQ(file.tasks[0].time_limit, 0s) << "0s means no limit, and so undoes a default";
  EXPECT_EQ(file.tasks[0].command,
            (Command{.arguments = {"/bin/sh", "-c", "true"},
                     .directory = "/tmp",
                     .environment = {{"A", "own"}, {"B", "default"}},
                     .user = "nobody"}));
}

TEST(TaskFile, accepts_every_notation_of_toml) {
  EXPECT_THAT(problems("task = [{name='a', cron='* * * * *', run='''true''', retry='1m'}]"),
              IsEmpty());
  const TaskFile file =
      parse_task_file(task_with("run = 'true'\nretry = '1m'\n[task.environment]\nA = '1'"));
  ASSERT_THAT(file.tasks, SizeIs(1));
  EXPECT_THAT(file.tasks[0].command.environment, ElementsAre(std::pair{"A", "1"}));
}

TEST(TaskFile, reports_every_problem_in_the_order_of_the_file) {
  EXPECT_THAT(
      problems(R"([defaults]
nme = "x"
cron = "* * * * *"
timeout = 5

[[task]]
name = "a"
cron = "*/15 * * * *"
run = ""
retry = "5 mn"

[[task]]
  name = "a"
  corn = "* * * * *"

[[tasks]]
name = "b"
)"),
      ElementsAre(
          "2:1: unknown key \"nme\"; [defaults] has the keys run, retry, timeout, directory, "
          "environment, user, on_failure, on_recovery, on_success, notify_after",
          "3:1: [defaults] cannot contain \"cron\"; set it in each task",
          "4:11: timeout must be a duration in quotes, such as \"5m\", not the integer 5",
          AllOf(StartsWith("8:8: Invalid cron expression \"*/15 * * * *\": minute field "),
                EndsWith("use 0,15,30,45")),
          "9:7: run is empty; write a command such as run = \"make report\"",
          "10:9: retry \"5 mn\" is not a duration; write whole numbers with d, h, m, s or "
          "ms, the largest first: 0s, 250ms, 30s, 5m, 1h30m, 1d",
          StartsWith("12:1: task \"a\" has no cron expression"),
          StartsWith("12:1: task \"a\" has no command"),
          StartsWith("12:1: task \"a\" has no retry delay"),
          "13:10: Task with name \"a\" is already scheduled at line 7, column 8; "
          "names must be unique",
          "14:3: unknown key \"corn\"; did you mean \"cron\"?",
          "16:3: unknown key \"tasks\"; did you mean \"task\"?"));
}

TEST(TaskFile, does_not_escape_messages_of_the_parser_twice) {
  EXPECT_THAT(problems("a = \n"), ElementsAre(EndsWith(R"(saw '\n')")));
}

TEST(TaskFile, reports_every_missing_key_of_an_empty_task) {
  EXPECT_THAT(problems("[[task]]"),
              ElementsAre(HasSubstr("has no name"),
                          HasSubstr("has no cron expression"),
                          HasSubstr("has no command"),
                          AllOf(HasSubstr("has no retry delay"), HasSubstr("[defaults]"))));
}

TEST(TaskFile, reports_a_faulty_default_once) {
  EXPECT_THAT(problems("[defaults]\nretry = 5\n" + task_with("run = 'true'")),
              ElementsAre(StartsWith("2:9: retry must be")));
}

TEST(TaskFile, E_tasks_that_are_not_an_array_are_a_RegistrationsNotArrayError) {
  EXPECT_THAT(problems("[task]\nname = 'a'"),
              ElementsAre("1:1: Registrations must be an array; task is a table; begin each task "
                          "with [[task]]"));
  EXPECT_THAT(problems("task = 'a'"),
              ElementsAre(StartsWith("1:8: Registrations must be an array; task is the string")));
}

TEST(TaskFile, E_a_task_that_is_not_a_table_is_a_RegistrationShapeError) {
  EXPECT_THAT(
      problems("task = [5, {name='a', cron='* * * * *', run='x', retry='1m'}, ['b', 1.5]]"),
      ElementsAre(AllOf(StartsWith("1:9: Invalid registration shape: expected [string, string, "
                                   "function, Duration]; task 1 is the integer 5"),
                        HasSubstr("[[task]]")),
                  HasSubstr("task 3 is an array")));
}

// "RegistrationShapeError 0: 5": the error of each problem, the task's index and the value
// received.
std::vector<std::string> errors(std::string_view text) {
  std::vector<std::string> out;
  for (const Problem& problem : parse_task_file(text).problems) {
    const auto& index = problem.registration_index;
    out.push_back(std::string{problem.error} + ' ' + (index ? std::to_string(*index) : "-") + ": " +
                  problem.received.value_or("none"));
  }
  return out;
}

TEST(TaskFile, E_a_wrong_type_or_a_missing_key_is_a_RegistrationShapeError) {
  const std::string good = task_with("run = 'true'\nretry = '1m'\n");
  EXPECT_THAT(errors(good + "[[task]]\nname = true\ncron = 5\nrun = 0.1234567\nretry = ['1m']\n"),
              ElementsAre("RegistrationShapeError 1: true",
                          "RegistrationShapeError 1: 5",
                          "RegistrationShapeError 1: 0.1234567",
                          "RegistrationShapeError 1: an array"));
  EXPECT_THAT(errors("[[task]]\nrun = 'x'\nretry = '1m'\nenvironment.TOKEN = 'secret'"),
              ElementsAre("RegistrationShapeError 0: a table with environment, retry, run",
                          "RegistrationShapeError 0: a table with environment, retry, run"));
  EXPECT_THAT(errors("task = [{}, 5]"),
              ElementsAre("RegistrationShapeError 0: an empty table",
                          "RegistrationShapeError 0: an empty table",
                          "RegistrationShapeError 0: an empty table",
                          "RegistrationShapeError 0: an empty table",
                          "RegistrationShapeError 1: 5"));
  EXPECT_THAT(errors(good + "nmae = 2026-01-02\ntimeout = 2026-01-02\nuser = 10:00:00\n"
                            "directory = 2026-01-02T10:00:00Z\n"),
              ElementsAre("RegistrationShapeError 0: nmae",
                          "RegistrationShapeError 0: 2026-01-02",
                          "RegistrationShapeError 0: 10:00:00",
                          "RegistrationShapeError 0: 2026-01-02T10:00:00Z"));
  EXPECT_THAT(errors(task_with("run = ['a', 7]\nretry = '5 mn'")),
              ElementsAre("RegistrationShapeError 0: 7", "RegistrationShapeError 0: 5 mn"));
}

TEST(TaskFile, E_a_problem_outside_of_tasks_has_no_index) {
  EXPECT_THAT(errors("tsk = 1\n[defaults]\nretry = 5\ncron = '* * * * *'\nusr = 'a'\n"),
              ElementsAre("RegistrationShapeError -: tsk",
                          "RegistrationShapeError -: 5",
                          "RegistrationShapeError -: cron",
                          "RegistrationShapeError -: usr"));
  EXPECT_THAT(errors("[task]\nname = 'a'"), ElementsAre("RegistrationsNotArrayError -: a table"));
  EXPECT_THAT(errors("a = \n"), ElementsAre(" -: none"));
}

TEST(TaskFile, E_a_value_that_a_scheduler_rejects_has_its_error_and_details) {
  const auto details = [](std::string_view text) {
    std::vector<std::string> out;
    for (const Problem& problem : parse_task_file(text).problems) {
      for (const ErrorField& field : problem.details) {
        const auto* string = std::get_if<std::string>(&field.value);
        out.push_back(
            std::string{field.name} + '=' +
            (string != nullptr ? *string : std::to_string(std::get<std::int64_t>(field.value))));
      }
    }
    return out;
  };
  const std::string rest = "run = 'true'\nretry = '1m'\n";
  const std::string macro = "[[task]]\nname = 'a'\ncron = '@daily'\n" + rest;
  EXPECT_THAT(errors(macro), ElementsAre("CronExpressionInvalidError 0: @daily"));
  EXPECT_THAT(
      details(macro),
      ElementsAre("expression=@daily", "field=expression", StartsWith("reason=has the macro")));
  const std::string twice = task_with(rest) + task_with(rest);
  EXPECT_THAT(errors(twice), ElementsAre("ScheduleDuplicateTaskError 1: a"));
  EXPECT_THAT(details(twice), ElementsAre("taskName=a"));
  const std::string negative = task_with("run = 'true'\nretry = '-1m30s'\n");
  EXPECT_THAT(errors(negative), ElementsAre("NegativeRetryDelayError 0: -1m30s"));
  EXPECT_THAT(details(negative), ElementsAre("retryDelayMs=-90000"));
  const std::string limit = task_with(rest + "timeout = '-1s'");
  EXPECT_THAT(errors(limit), ElementsAre("InvalidRegistrationError 0: -1s"));
  EXPECT_THAT(details(limit),
              ElementsAre("field=timeLimit", "value=-1s", StartsWith("reason=timeout \"-1s\"")));
  const std::string unnamed = "[[task]]\nname = ''\ncron = '* * * * *'\n" + rest;
  EXPECT_THAT(errors(unnamed), ElementsAre("InvalidRegistrationError 0: "));
  EXPECT_THAT(details(unnamed),
              ElementsAre("field=name", "value=", StartsWith("reason=name is empty")));
}

TEST(TaskFile, never_shows_values_of_variables) {
  for (const Problem& problem :
       parse_task_file(task_with("environment.TOKEN = \"secret\\u0000\"")).problems) {
    EXPECT_THAT(problem.message + problem.received.value_or(""), testing::Not(HasSubstr("secret")));
    for (const ErrorField& field : problem.details)
      EXPECT_NE(field.value, ErrorField::Value{std::string("secret\0", 7)});
  }
}

TEST(TaskFile, messages_name_the_type_of_a_value) {
  const auto wrong = [](const std::string& line) {
    return problems(task_with("run = 'true'\nretry = '1m'\n" + line));
  };
  EXPECT_THAT(wrong("directory = 5"),
              ElementsAre("6:13: directory must be a string, not the integer 5"));
  EXPECT_THAT(wrong("directory = 1.5"), ElementsAre(EndsWith("not a floating-point number")));
  EXPECT_THAT(wrong("directory = true"), ElementsAre(EndsWith("not the boolean true")));
  EXPECT_THAT(wrong("directory = 2026-01-01"), ElementsAre(EndsWith("not a date")));
  EXPECT_THAT(wrong("directory = 2026-01-01T00:00:00Z"), ElementsAre(EndsWith("not a date")));
  EXPECT_THAT(wrong("directory = 10:00:00"), ElementsAre(EndsWith("not a time")));
  EXPECT_THAT(wrong("directory = []"), ElementsAre(EndsWith("not an array")));
  EXPECT_THAT(wrong("directory = {}"), ElementsAre(EndsWith("not a table")));
  EXPECT_THAT(wrong("directory = ''"), ElementsAre(StartsWith("6:13: directory is empty")));
  EXPECT_THAT(wrong("user = ''"), ElementsAre(StartsWith("6:8: user is empty")));
  EXPECT_THAT(wrong("environment = 'A=1'"), ElementsAre(HasSubstr("must be a table")));
  EXPECT_THAT(problems("defaults = 1"), ElementsAre(StartsWith("1:12: defaults must be a table")));
  EXPECT_THAT(problems("[[task]]\nname = 1\ncron = 2\nrun = 3\nretry = 4"), SizeIs(4));
}

TEST(TaskFile, names_are_not_empty) {
  EXPECT_THAT(problems("[[task]]\nname=''\ncron='* * * * *'\nrun='true'\nretry='1m'"),
              ElementsAre("2:6: name is empty; every task needs a name"));
}

// E: values that initialize() would reject.
TEST(TaskFile, names_and_expressions_have_a_maximum_length) {
  const auto of_length = [](std::size_t name, std::size_t cron) {
    return problems("[[task]]\nname = '" + std::string(name, 'x') + "'\ncron = '* * * * *" +
                    std::string(cron - 9, ' ') + "'\nrun = 'true'\nretry = '1m'\n");
  };
  EXPECT_THAT(of_length(1024, 1024), IsEmpty());
  EXPECT_THAT(of_length(1025, 1024),
              ElementsAre("2:8: name is 1025 bytes long; the maximum is 1024"));
  EXPECT_THAT(of_length(1024, 2000),
              ElementsAre("3:8: cron is 2000 bytes long; the maximum is 1024"));
}

TEST(TaskFile, commands_are_not_empty) {
  const auto run = [](const std::string& value) {
    return problems(task_with("retry = '1m'\nrun = " + value));
  };
  EXPECT_THAT(run("\" \\t\\n\""), ElementsAre(StartsWith("5:7: run is empty")));
  EXPECT_THAT(run("[]"), ElementsAre(StartsWith("5:7: run is an empty array")));
  EXPECT_THAT(run("['', 'a']"), ElementsAre(StartsWith("5:8: run begins with an empty string")));
  EXPECT_THAT(run("['a', 5, ['b']]"),
              ElementsAre("5:13: every element of run must be a string, not the integer 5",
                          HasSubstr("not an array")));
  EXPECT_THAT(run("5"), ElementsAre(HasSubstr("a string for /bin/sh or an array of strings")));
}

TEST(TaskFile, notifications_are_commands_as_run_is) {
  const TaskFile file = parse_task_file(task_with(
      "run = 'true'\nretry = '1m'\non_failure = 'mail ops'\non_recovery = ['/bin/echo', 'well']\n"
      "on_success = 'date'\nnotify_after = 3"));
  ASSERT_THAT(file.tasks, SizeIs(1));
  const Notifications& notifications = file.tasks[0].notifications;
  EXPECT_THAT(notifications.on_failure, ElementsAre("/bin/sh", "-c", "mail ops"));
  EXPECT_THAT(notifications.on_recovery, ElementsAre("/bin/echo", "well"));
  EXPECT_THAT(notifications.on_success, ElementsAre("/bin/sh", "-c", "date"));
  EXPECT_EQ(notifications.after, 3U);
  const TaskFile silent = parse_task_file(task_with("run = 'true'\nretry = '1m'"));
  ASSERT_THAT(silent.tasks, SizeIs(1));
  EXPECT_EQ(silent.tasks[0].notifications, Notifications{});
}

TEST(TaskFile, an_empty_string_switches_off_the_notification_of_the_defaults) {
  const TaskFile file = parse_task_file(
      "[defaults]\nretry = '1m'\nrun = 'true'\non_failure = 'mail ops'\non_success = ''\n"
      "notify_after = 2\n"
      "[[task]]\nname = 'loud'\ncron = '* * * * *'\n"
      "[[task]]\nname = 'silent'\ncron = '* * * * *'\non_failure = ''\nnotify_after = 1");
  EXPECT_THAT(file.problems, IsEmpty());
  ASSERT_THAT(file.tasks, SizeIs(2));
  EXPECT_THAT(file.tasks[0].notifications.on_failure, ElementsAre("/bin/sh", "-c", "mail ops"));
  EXPECT_THAT(file.tasks[0].notifications.on_success, IsEmpty());
  EXPECT_EQ(file.tasks[0].notifications.after, 2U);
  EXPECT_THAT(file.tasks[1].notifications.on_failure, IsEmpty());
  EXPECT_EQ(file.tasks[1].notifications.after, 1U);
}

TEST(TaskFile, rejects_notifications_that_are_no_commands) {
  const auto wrong = [](const std::string& line) {
    return problems(task_with("run = 'true'\nretry = '1m'\n" + line));
  };
  EXPECT_THAT(wrong("on_failure = ' '"),
              ElementsAre("6:14: on_failure is empty; write a command, or \"\" for none"));
  EXPECT_THAT(wrong("on_recovery = []"),
              ElementsAre("6:15: on_recovery is an empty array; write the program and its "
                          "arguments"));
  EXPECT_THAT(wrong("on_success = ['']"),
              ElementsAre("6:15: on_success begins with an empty string; the first element must be "
                          "the program"));
  EXPECT_THAT(wrong("on_success = true"),
              ElementsAre("6:14: on_success must be a string for /bin/sh or an array of strings, "
                          "not the boolean true"));
  EXPECT_THAT(wrong("on_failure = ['a', 5]"),
              ElementsAre("6:20: every element of on_failure must be a string, not the integer 5"));
  EXPECT_THAT(wrong("on_failure = \"a\\u0000\""), ElementsAre(HasSubstr("NUL")));
  EXPECT_THAT(wrong("on_fail = 'x'"),
              ElementsAre("6:1: unknown key \"on_fail\"; did you mean \"on_failure\"?"));
  EXPECT_THAT(wrong("on_sucess = 'x'"), ElementsAre(HasSubstr("did you mean \"on_success\"?")));
}

TEST(TaskFile, notify_after_is_a_number_of_failures) {
  const auto after = [](const std::string& value) {
    return problems(task_with("run = 'true'\nretry = '1m'\nnotify_after = " + value));
  };
  EXPECT_THAT(after("1"), IsEmpty());
  EXPECT_THAT(after("1000000"), IsEmpty());
  EXPECT_THAT(after("0"),
              ElementsAre("6:16: notify_after is 0; write a number of failures from 1 to 1000000"));
  EXPECT_THAT(after("-1"), ElementsAre(HasSubstr("notify_after is -1")));
  EXPECT_THAT(after("1000001"), ElementsAre(HasSubstr("notify_after is 1000001")));
  EXPECT_THAT(after("9223372036854775807"), ElementsAre(HasSubstr("9223372036854775807")));
  EXPECT_THAT(after("'3'"),
              ElementsAre(HasSubstr("must be a number of failures, such as 3, not the string")));
  EXPECT_THAT(after("1.5"), ElementsAre(EndsWith("not a floating-point number")));
}

TEST(TaskFile, durations_are_not_negative_and_have_a_maximum) {
  const auto retry = [](const std::string& value) {
    return problems(task_with("run = 'true'\nretry = " + value));
  };
  EXPECT_THAT(retry("'-5m'"),
              ElementsAre("5:9: Retry delay must be non-negative: retry \"-5m\" is negative; write "
                          "0s or more"));
  EXPECT_THAT(retry("'99999999999d'"), ElementsAre(HasSubstr("longer than a hundred years")));
  EXPECT_THAT(retry("5m"), ElementsAre(HasSubstr("strings need quotes")));
  EXPECT_THAT(problems(task_with("run = 'true'\nretry = '1m'\ntimeout = '-1s'")),
              ElementsAre("6:11: timeout \"-1s\" is negative; write 0s or more"));
}

TEST(TaskFile, rejects_nul_characters) {
  for (const char* line : {"name = \"\\u0000\"",
                           "run = \"a\\u0000b\"",
                           "run = [\"a\", \"\\u0000\"]",
                           "directory = \"/\\u0000\"",
                           "user = \"\\u0000\"",
                           "environment = { A = \"\\u0000\" }",
                           "environment = { \"\\u0000\" = \"a\" }"}) {
    EXPECT_THAT(problems(std::string{"[[task]]\n"} + line), testing::Contains(HasSubstr("NUL")))
        << line;
  }
}

TEST(TaskFile, environment_has_valid_names_and_string_values) {
  const auto environment = [](const std::string& value) {
    return problems(task_with("run = 'true'\nretry = '1m'\nenvironment = " + value));
  };
  EXPECT_THAT(environment("{ '' = 'a' }"),
              ElementsAre(StartsWith("6:17: environment has an invalid variable name")));
  EXPECT_THAT(environment("{ 'A=B' = 'a' }"), ElementsAre(HasSubstr("\"A=B\"")));
  EXPECT_THAT(environment("{ PORT = 80 }"),
              ElementsAre("6:24: environment variable PORT must be a string, not the integer 80"));
  EXPECT_THAT(environment("{ A.B = 'x' }"), ElementsAre(HasSubstr("not a table")));
  EXPECT_THAT(environment("{ A = '' }"), IsEmpty());
}

TEST(TaskFile, syntax_errors_have_their_place) {
  EXPECT_THAT(problems("[[task]]\nname = \"a"), ElementsAre(StartsWith("2:")));
  EXPECT_THAT(problems("\nñ = 1"), ElementsAre(StartsWith("2:1: ")));
  EXPECT_THAT(problems("[[.task]]"), ElementsAre(StartsWith("1:3: ")));
  EXPECT_THAT(problems("[[task]\n"), ElementsAre(StartsWith("1:8: ")));
  EXPECT_THAT(problems("\n\n\xff"),
              ElementsAre("3:1: byte \\xff is not UTF-8; save the file as UTF-8"));
  EXPECT_THAT(problems(std::string_view{"a\0", 2}), SizeIs(1));
  EXPECT_THAT(problems("[defaults]\n[defaults]"), ElementsAre(HasSubstr("cannot redefine")));
  EXPECT_THAT(problems("[[task]]\nname='a'\nname='b'"), ElementsAre(StartsWith("3:")));
}

TEST(TaskFile, a_backslash_may_join_lines_before_any_character) {
  const TaskFile file =
      parse_task_file(task_with("retry = '1m'\nrun = \"\"\"echo \\\n  é ö\"\"\""));
  ASSERT_THAT(file.tasks, SizeIs(1));
  EXPECT_EQ(file.tasks[0].command.arguments.back(), "echo é ö");
}

TEST(TaskFile, rejects_deep_nesting_before_it_overflows_the_stack) {
  const auto repeat = [](std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  constexpr int many = 300'000;
  for (const std::string& text : {"a = " + repeat("[", many),
                                  "a = " + repeat("{a=", many),
                                  "[" + repeat("a.", many) + "a]",
                                  "[[" + repeat("'a' . ", many) + "a]]",
                                  repeat("a\t.", many) + "a = 1",
                                  "x = \"\"\"\\\"\"\"\"\"\n" + repeat("\"b\".", many) + "a = 1",
                                  "x = '''a\n''''\n" + repeat("b.", many) + "a = 1",
                                  "a = [{" + repeat("a.", many) + "a = 1}]"}) {
    EXPECT_THAT(problems(text), ElementsAre(HasSubstr("too deeply"))) << text.substr(0, 40);
  }
}

TEST(TaskFile, ten_thousand_tasks_are_read) {
  std::string text = "[defaults]\nretry = '1m'\nrun = 'true'\n";
  for (int i = 0; i < 10'000; ++i)
    text += "[[task]]\nname = 'task " + std::to_string(i) + "'\ncron = '* * * * *'\n";
  const TaskFile file = parse_task_file(text);
  EXPECT_THAT(file.problems, IsEmpty());
  EXPECT_THAT(file.tasks, SizeIs(10'000));
  EXPECT_EQ(file.tasks.back().name, "task 9999");
}

// A line of a task file, usually valid.
rc::Gen<std::string> line() {
  return rc::gen::element<std::string>("[[task]]",
                                       "[defaults]",
                                       "[task]",
                                       "name = 'a'",
                                       "name = 'b'",
                                       "name = ''",
                                       "cron = '* * * * *'",
                                       "cron = '*/5 * * * *'",
                                       "cron = 7",
                                       "run = 'true'",
                                       "run = []",
                                       "run = ['a', 'b']",
                                       "retry = '1m'",
                                       "retry = '-1m'",
                                       "timeout = '5s'",
                                       "timeout = 5",
                                       "directory = '/'",
                                       "user = 'root'",
                                       "usr = 'root'",
                                       "environment = { A = 'b' }",
                                       "environment = { A = 1 }",
                                       "environment.B = 'c'",
                                       "task = []",
                                       "\"",
                                       "");
}

RC_GTEST_PROP(TaskFileProperty, a_file_is_tasks_that_can_be_run_or_problems_in_order, ()) {
  std::string text;
  for (const std::string& next : *rc::gen::container<std::vector<std::string>>(line()))
    text += next + '\n';
  const TaskFile file = parse_task_file(text);

  const auto lines = static_cast<std::uint32_t>(std::ranges::count(text, '\n') + 1);
  Place last;
  for (const Problem& problem : file.problems) {
    RC_ASSERT(!problem.message.empty());
    RC_ASSERT(problem.place.line >= 1 && problem.place.line <= lines && problem.place.column >= 1);
    RC_ASSERT(std::pair(last.line, last.column) <=
              std::pair(problem.place.line, problem.place.column));
    last = problem.place;
  }
  RC_ASSERT(file.problems.empty() || file.tasks.empty());
  std::set<std::string> names;
  for (const TaskDefinition& task : file.tasks) {
    RC_ASSERT(!task.name.empty() && names.insert(task.name).second);
    RC_ASSERT(CronExpression::try_parse(task.cron).has_value());
    RC_ASSERT(!task.command.arguments.empty() && !task.command.arguments[0].empty());
    RC_ASSERT(task.retry_delay >= 0s && task.time_limit >= 0s);
  }
}

}  // namespace
}  // namespace dutiful
