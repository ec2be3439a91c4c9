#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/program_in_test.h"
#include "support/temporary_directory.h"
#include "support/with_variable.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Check : public testing::Test {
 protected:
  std::string write(std::string_view text) {
    std::ofstream{file_, std::ios::binary} << text;
    return file_;
  }

  // Standard error of a check that finds no problems, without the file's name.
  std::string warnings(const std::string& lines, Instant now = at("2025-06-01T12:00:00Z")) {
    const std::string file = write("[defaults]\nretry = '1m'\nrun = 'true'\n" + lines);
    Result result = dutiful({"check", file}, now);
    EXPECT_EQ(result.status, 0) << result.err;
    for (std::size_t at = 0; (at = result.err.find(file + ':', at)) != std::string::npos;)
      result.err.erase(at, file.size() + 1);
    return result.err;
  }

  std::string warning(const std::string& lines) {
    return warnings("[[task]]\nname = 'a'\ncron = '* * * * *'\n" + lines);
  }

  TemporaryDirectory directory_;
  std::string file_ = directory_.file("tasks.toml");
};

TEST_F(Check, shows_what_run_would_do) {
  const WithVariable zone{"TZ", "America/New_York"};
  const auto result = dutiful({"check", write(R"(
[[task]]
name = "backup"
cron = "15 3 * * 1-5"
run = """
pg_dump shop | gzip > /srv/shop.gz
\tls
"""
retry = "1h30m"
timeout = "30m"
directory = "/"

[[task]]
name = "line\nbreak"
cron = "30 1 2 11 *"
run = ["/bin/echo", "a b", "c"]
retry = "0s"
)")});

  EXPECT_EQ(result.out,
            R"(backup: At 03:15, Monday through Friday
  run    pg_dump shop | gzip > /srv/shop.gz
         \tls
  in     /
  retry  after 1h30m
  limit  30m
  next   2025-06-02T03:15:00-04:00
         2025-06-03T03:15:00-04:00
         2025-06-04T03:15:00-04:00
line\nbreak: At 01:30, on the 2nd of November
  run    /bin/echo "a b" c
  retry  after 0s
  next   2025-11-02T01:30:00-04:00
         2025-11-02T01:30:00-05:00
         2026-11-02T01:30:00-05:00
)");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.status, 0);
}

// E cuts values in messages, but check prints commands whole.
TEST_F(Check, shows_long_commands_whole) {
  const std::string argument(1000, ' ');
  const auto result = dutiful({"check",
                               write("[[task]]\nname = 'a'\ncron = '* * * * *'\nretry = '1m'\n"
                                     "run = ['true', '" +
                                     argument + "']\n")});
  EXPECT_THAT(result.out, HasSubstr("true \"" + argument + "\"\n"));
}

// V, X4: only characters that could forge a line are escaped.
TEST_F(Check, shows_commands_as_they_are) {
  const auto shown = [&](const std::string& run) {
    const auto result = dutiful(
        {"check", write("[[task]]\nname = 'a'\ncron = '* * * * *'\nretry = '1m'\nrun = " + run)});
    const std::size_t begin = result.out.find("  run    ") + 9;
    return result.out.substr(begin, result.out.find("\n  retry") - begin);
  };
  EXPECT_EQ(shown(R"('ls | grep "\.log$"')"), R"(ls | grep "\.log$")");
  EXPECT_EQ(shown(R"("printf 'a\\n'; echo \r\u001b[1m \u0085 \u202e")"),
            R"(printf 'a\n'; echo \r\x1b[1m \xc2\x85 \xe2\x80\xae)");
  EXPECT_EQ(shown(R"('true \')"), "true \\");
  // Without a shell: as one would type it into one.
  EXPECT_EQ(shown(R"(['grep', '\.log$', 'a\b'])"), R"(grep '\.log$' 'a\b')");
  EXPECT_EQ(shown(R"(['echo', '', "it's", 'a;b', "it's $5", 'say "a"'])"),
            R"(echo "" "it's" "a;b" 'it'\''s $5' 'say "a"')");
  EXPECT_EQ(shown(R"(["echo", "a\nb", "./x-1_y,z@h:k=v+%"])"), R"(echo "a\nb" ./x-1_y,z@h:k=v+%)");
}

TEST_F(Check, reports_every_problem_with_its_place) {
  const std::string file = write("[[task]]\nname = 5\ncron = '@daily'\nrnu = 'a'\n'b\"' = 1\n");
  const auto result = dutiful({"check", file});

  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  std::string expected;
  for (
      const char* line :
      {R"(1:1: the task has no command; add run = "…")",
       R"(1:1: the task has no retry delay; add one such as retry = "5m" to the task or to [defaults])",
       R"(2:8: name must be a string, not the integer 5)",
       R"(3:8: Invalid cron expression "@daily": expression field has the macro "@daily"; )"
       R"(POSIX cron has no macros; use 0 0 * * *)",
       R"(4:1: unknown key "rnu"; did you mean "run"?)",
       R"(5:1: unknown key "b\""; a task has the keys name, cron, run, retry, timeout, directory, )"
       R"(environment, user, on_failure, on_recovery, on_success, notify_after)"}) {
    expected += "dutiful: " + file + ':' + line + '\n';
  }
  EXPECT_EQ(result.err, expected);
}

TEST_F(Check, keeps_a_problem_on_one_line) {
  const auto result = dutiful({"check", write("\"a\\nb\" = 1\n[[task]]\n'\x01'")});
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  EXPECT_EQ(std::ranges::count(dutiful({"check", write("\"a\\nb\" = 1\n")}).err, '\n'), 1);
}

TEST_F(Check, an_unreadable_file_is_wrong_usage) {
  const std::string missing = directory_.file("missing");
  auto result = dutiful({"check", missing});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "dutiful: cannot read " + missing + ": No such file or directory\n");
  result = dutiful({"check", "/"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("Is a directory"));
  result = dutiful({"check", "/dev/zero"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("larger than 64 MiB"));
  EXPECT_EQ(dutiful({"check"}).status, 2);
}

TEST_F(Check, prints_json) {
  const auto result = dutiful({"check", "--json", write(R"(
[[task]]
name = "a"
cron = "0 0 30 2 *"
run = ["/bin/echo", "x"]
retry = "1m"
timeout = "2s"
environment = { TOKEN = "secret" }
)")});

  EXPECT_EQ(result.status, 0);
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["valid"], true);
  EXPECT_EQ(document["zone"], "UTC");
  const auto& task = document["tasks"].at(0);
  EXPECT_EQ(task["name"], "a");
  EXPECT_EQ(task["command"], (std::vector<std::string>{"/bin/echo", "x"}));
  EXPECT_EQ(task["environment"], std::vector<std::string>{"TOKEN"});
  EXPECT_EQ(task["retryMs"], 60'000);
  EXPECT_EQ(task["timeoutMs"], 2'000);
  EXPECT_THAT(task["onFailure"], IsEmpty());
  EXPECT_EQ(task["notifyAfter"], nullptr);
  EXPECT_EQ(task["user"], nullptr);
  EXPECT_THAT(task["next"], IsEmpty());
  EXPECT_EQ(document["warnings"].at(0)["line"], 2);
}

TEST_F(Check, shows_notifications) {
  const std::string task = "[[task]]\nname = 'a'\ncron = '0 5 * * *'\nrun = 'true'\nretry = '1m'\n";
  const std::string all = task + "on_failure = 'mail ops'\non_recovery = ['/bin/echo', 'a b']\n";
  EXPECT_THAT(dutiful({"check", write(all)}).out,
              HasSubstr("  retry  after 1m\n"
                        "  notify at every failure:\n         mail ops\n"
                        "  notify at a success after a failure:\n         /bin/echo \"a b\"\n"
                        "  next   "));
  const std::string once = write(all + "on_success = 'date'\nnotify_after = 3\n");
  EXPECT_THAT(dutiful({"check", once}).out,
              HasSubstr("  notify at failure 3 in a row:\n         mail ops\n"
                        "  notify at a success after failure 3:\n         /bin/echo \"a b\"\n"
                        "  notify at every success:\n         date\n"));
  const auto shown = nlohmann::json::parse(dutiful({"check", "--json", once}).out)["tasks"].at(0);
  EXPECT_EQ(shown["onFailure"], (std::vector<std::string>{"/bin/sh", "-c", "mail ops"}));
  EXPECT_EQ(shown["onRecovery"], (std::vector<std::string>{"/bin/echo", "a b"}));
  EXPECT_EQ(shown["onSuccess"], (std::vector<std::string>{"/bin/sh", "-c", "date"}));
  EXPECT_EQ(shown["notifyAfter"], 3);
}

TEST_F(Check, prints_problems_as_json) {
  const auto result = dutiful({"check", "--json", write("task = 5")});
  EXPECT_EQ(result.status, 1);
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["valid"], false);
  EXPECT_EQ(document["problems"].at(0)["column"], 8);
  EXPECT_THAT(document["problems"].at(0)["message"].get<std::string>(),
              HasSubstr("Registrations must be an array"));
}

TEST_F(Check, E_names_the_error_of_each_problem_in_json) {
  const auto result =
      dutiful({"check",
               "--json",
               write("[[task]]\nname = 'a'\ncron = '* * * * *'\nrun = 'true'\nretry = '1m'\n"
                     "[[task]]\nname = 'b'\ncron = 5\nrun = 'true'\n[[task]]\nname = 'c'\n"
                     "cron = '@daily'\nrun = 'true'\nretry = '-1m'\n")});
  EXPECT_EQ(result.status, 1);
  const auto problems = nlohmann::json::parse(result.out)["problems"];
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems[0]["error"], "RegistrationShapeError");
  EXPECT_EQ(problems[0]["registrationIndex"], 1);
  EXPECT_EQ(problems[0]["received"], "a table with cron, name, run");
  EXPECT_EQ(problems[1]["error"], "RegistrationShapeError");
  EXPECT_EQ(problems[1]["registrationIndex"], 1);
  EXPECT_EQ(problems[1]["received"], "5");
  EXPECT_EQ(problems[2]["error"], "CronExpressionInvalidError");
  EXPECT_EQ(problems[2]["registrationIndex"], 2);
  EXPECT_EQ(problems[2]["received"], "@daily");
  EXPECT_EQ(problems[2]["expression"], "@daily");
  EXPECT_EQ(problems[2]["field"], "expression");
  EXPECT_EQ(problems[3]["error"], "NegativeRetryDelayError");
  EXPECT_EQ(problems[3]["retryDelayMs"], -60'000);

  const auto broken = nlohmann::json::parse(dutiful({"check", "--json", write("task = ")}).out);
  EXPECT_EQ(broken["problems"][0]["error"], nullptr);
  EXPECT_EQ(broken["problems"][0]["registrationIndex"], nullptr);
}

// V: C1 and bidirectional controls, which JSON itself allows.
TEST_F(Check, escapes_controls_in_json) {
  const std::string hostile = "\u009b31m\u202e\u2066\u2028x";
  for (const std::string& text :
       {"[[task]]\nname = \"" + hostile + "\"\ncron = '* * * * *'\nretry = '1m'\nrun = [\"" +
            hostile + "\"]\n",
        "[[task]]\nname = 'a'\ncron = \"" + hostile + "\"\n\"" + hostile + "\" = 1\n"}) {
    const auto result = dutiful({"check", "--json", write(text)});
    EXPECT_THAT(result.out,
                AllOf(HasSubstr(R"(\u009b31m\u202e\u2066\u2028x)"),
                      testing::Not(HasSubstr("\u009b")),
                      testing::Not(HasSubstr("\u202e")),
                      testing::Not(HasSubstr("\u2066")),
                      testing::Not(HasSubstr("\u2028"))));
    EXPECT_TRUE(nlohmann::json::accept(result.out));
  }
}

// T4: as for run.
TEST_F(Check, shows_a_repeated_minute_once_if_asked) {
  const WithVariable zone{"TZ", "America/New_York"};
  const std::string file =
      write("[[task]]\nname='a'\ncron='30 1 2 11 *'\nrun='true'\nretry='1m'\n");
  EXPECT_THAT(dutiful({"check", file}).out, HasSubstr("2025-11-02T01:30:00-05:00"));
  EXPECT_THAT(dutiful({"check", "--repeated", "first_only", file}).out,
              AllOf(HasSubstr("2025-11-02T01:30:00-04:00"),
                    testing::Not(HasSubstr("2025-11-02T01:30:00-05:00"))));
}

TEST_F(Check, warns_about_a_file_without_tasks) {
  EXPECT_EQ(warnings(""), "dutiful: 1:1: warning: the file has no tasks; add one with [[task]]\n");
}

TEST_F(Check, warns_about_a_task_that_is_never_due) {
  EXPECT_THAT(warnings("[[task]]\nname = 'a'\ncron = '0 0 30 2 *'\n"),
              AllOf(HasSubstr("4:1: warning: task \"a\" is never due: "), HasSubstr("30")));
}

TEST_F(Check, warns_about_two_tasks_with_one_command) {
  const std::string run = "\nrun = 'true'\n";
  EXPECT_EQ(warnings("[[task]]\nname='a'\ncron='1 * * * *'" + run +
                     "[[task]]\nname='b'\ncron='2 * * * *'" + run +
                     "[[task]]\nname='c'\ncron='2 * * * *'\nenvironment.A='1'" + run),
            "dutiful: 8:1: warning: task \"b\" runs the same command as task \"a\" at line 4; "
            "they may run at the same time\n");
  // A command in [defaults] is meant for several tasks.
  EXPECT_EQ(warnings("[[task]]\nname='a'\ncron='1 * * * *'\n"
                     "[[task]]\nname='b'\ncron='2 * * * *'\n"),
            "");
}

TEST_F(Check, warns_about_an_unknown_user) {
  EXPECT_THAT(warning("user = 'no such user'"), HasSubstr("which does not exist on this host"));
  // Root may become any user; others may only stay who they are.
  const std::string other = geteuid() == 0 ? "root" : "nobody";
  EXPECT_EQ(warning("user = '" + other + "'").empty(), geteuid() == 0);
}

TEST_F(Check, warns_about_a_run_in_a_skipped_minute) {
  const WithVariable zone{"TZ", "America/New_York"};
  const std::string nightly = "[[task]]\nname = 'a'\ncron = '30 2 * * *'\n";
  EXPECT_EQ(
      warnings(nightly, at("2025-03-08T12:00:00Z")),
      "dutiful: 4:1: warning: task \"a\" will not run at 2025-03-09T02:30: that minute does not "
      "exist, because clocks are set forward\n");
  EXPECT_EQ(warnings(nightly, at("2025-03-01T12:00:00Z")), "");
  EXPECT_EQ(warnings(nightly, at("2025-03-09T12:00:00Z")), "");
  EXPECT_EQ(warnings("[[task]]\nname = 'a'\ncron = '30 4 * * *'\n", at("2025-03-08T12:00:00Z")),
            "");
}

TEST_F(Check, warns_about_a_directory_that_is_not_one) {
  EXPECT_THAT(warning("directory = '/no/such/place'"),
              HasSubstr("runs in the directory \"/no/such/place\", which does not exist"));
  EXPECT_THAT(warning("directory = '/etc/passwd'"), HasSubstr("which is not a directory"));
  EXPECT_EQ(warning("directory = '/'"), "");
}

TEST_F(Check, warns_about_a_program_that_cannot_be_run) {
  EXPECT_EQ(warning("run = ['/bin/sh']"), "");
  EXPECT_EQ(warning("run = ['sh']"), "");
  EXPECT_EQ(warning("directory = '/bin'\nrun = ['./sh']"), "");
  EXPECT_THAT(warning("run = ['/bin/no-such-program']"), HasSubstr("which does not exist"));
  EXPECT_THAT(warning("run = ['/etc/passwd']"), HasSubstr("which is not executable"));
  EXPECT_THAT(warning("run = ['/']"), HasSubstr("which is not executable"));
  EXPECT_THAT(warning("run = ['no-such-program']"), HasSubstr("not in any directory of PATH"));
  EXPECT_THAT(warning("run = ['sh']\nenvironment.PATH = '/srv:/nowhere'"),
              HasSubstr("not in any directory of PATH"));
  // An empty entry is the directory in which the command runs.
  EXPECT_EQ(warning("directory = '/bin'\nrun = ['sh']\nenvironment.PATH = ':/nowhere'"), "");
}

TEST_F(Check, warns_about_notifications_that_cannot_happen) {
  EXPECT_THAT(warning("run = 'true'\non_failure = ['no-such-program']"),
              HasSubstr("task \"a\" has an on_failure that runs the program \"no-such-program\", "
                        "which is not in any directory of PATH"));
  EXPECT_THAT(warning("run = 'true'\non_recovery = ['/no/such']"),
              HasSubstr("has an on_recovery that runs the program \"/no/such\", which does not "
                        "exist"));
  EXPECT_THAT(warning("run = 'true'\nnotify_after = 2\non_success = 'true'"),
              HasSubstr("sets notify_after, but has neither on_failure nor on_recovery"));
  EXPECT_EQ(warning("run = 'true'\nnotify_after = 2\non_recovery = 'true'"), "");
}

}  // namespace
}  // namespace dutiful
