#include "tasks/import_crontab.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tasks/task_file.h"
#include "tasks/toml_text.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

const ImportOptions user_form{.source = "crontab", .home_of = [](const std::string&) {
                                return std::optional<std::string>{"/home/joe"};
                              }};
const ImportOptions system_form{
    .source = "/etc/crontab",
    .form = CrontabForm::system,
    .home_of = [](const std::string& user) -> std::optional<std::string> {
      if (user == "root") return "/root";
      if (user == "www-data") return "/var/www";
      return std::nullopt;
    }};

std::vector<TaskDefinition> tasks_of(const Import& import) {
  TaskFile file = parse_task_file(import.task_file);
  EXPECT_THAT(file.problems, IsEmpty()) << import.task_file;
  return std::move(file.tasks);
}

// "line: message"
std::vector<std::string> remarks_of(const Import& import) {
  std::vector<std::string> out;
  for (const auto& [line, message] : import.remarks)
    out.push_back(std::to_string(line) + ": " + message);
  return out;
}

TEST(ImportCrontab, writes_a_task_file_to_read) {
  const Import import = import_crontab(R"CRON(# Debian's
SHELL=/bin/sh
PATH=/usr/sbin:/usr/bin
MAILTO=ops@example.com

17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
*/10 * * * * www-data /srv/shop/cron.sh --date "$(date +\%F)"
@reboot root /opt/at-boot
)CRON",
                                       system_form);

  EXPECT_EQ(import.task_file, R"CRON(# Imported from /etc/crontab by dutiful import-crontab.
#
# Unlike cron, dutiful makes up for missed runs with one run, never runs a task twice at the
# same time, and mails nothing, except for on_failure. A minute that does not exist because
# clocks are set forward is skipped; a minute that occurs twice because they are set back runs
# twice.

[defaults]
retry = "366d"  # cron never retries: the next run is due before this delay ends
environment = { MAILTO = "ops@example.com", PATH = "/usr/sbin:/usr/bin", SHELL = "/bin/sh" }
on_failure = '{ printf "To: %s\nSubject: %s failed: %s\n\n" "$MAILTO" "$DUTIFUL_TASK" "$DUTIFUL_ERROR"; /bin/cat; } | /usr/sbin/sendmail -i -t'

# Debian's
# No equivalent: cron mails the output of every run; on_failure of the tasks below mails the end of the output of a run that fails, and needs /usr/sbin/sendmail.
# MAILTO=ops@example.com

# 17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
[[task]]
name = "run-parts-cron.hourly"
cron = "17 * * * *"
run = "cd / && run-parts --report /etc/cron.hourly"
user = "root"
directory = "/root"

# */10 * * * * www-data /srv/shop/cron.sh --date "$(date +\%F)"
[[task]]
name = "cron"
cron = "0,10,20,30,40,50 * * * *"
run = '/srv/shop/cron.sh --date "$(date +%F)"'
user = "www-data"
directory = "/var/www"

# No equivalent: @reboot is not a time; use a systemd unit to run it at boot.
# @reboot root /opt/at-boot
)CRON");
  EXPECT_THAT(
      remarks_of(import),
      ElementsAre("4: cron mails the output of every run; on_failure of the tasks below mails the "
                  "end of the output of a run that fails, and needs /usr/sbin/sendmail",
                  "8: @reboot is not a time; use a systemd unit to run it at boot"));
}

TEST(ImportCrontab, tasks_have_what_cron_gives_to_commands) {
  const auto tasks = tasks_of(import_crontab("@daily a\nHOME=/srv\nFOO=x y\n@daily b", user_form));
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks[0].command.directory, "/home/joe");
  EXPECT_THAT(tasks[0].command.environment,
              ElementsAre(Pair("PATH", "/usr/bin:/bin"), Pair("SHELL", "/bin/sh")));
  EXPECT_EQ(tasks[0].retry_delay, 24h * 366);
  EXPECT_EQ(tasks[1].command.directory, "/srv");
  EXPECT_THAT(tasks[1].command.environment,
              ElementsAre(Pair("FOO", "x y"),
                          Pair("HOME", "/srv"),
                          Pair("PATH", "/usr/bin:/bin"),
                          Pair("SHELL", "/bin/sh")));
}

TEST(ImportCrontab, a_line_of_an_unknown_user_is_left_out) {
  const Import import = import_crontab(
      "@daily nobody-here x\n@daily root x\nHOME=/srv\n@hourly nobody-here y\n", system_form);
  const std::string remark =
      "cron runs it in the home directory of user \"nobody-here\", which is unknown on this host; "
      "set HOME above it";
  EXPECT_THAT(remarks_of(import), ElementsAre("1: " + remark));
  EXPECT_THAT(import.task_file,
              HasSubstr("\n# No equivalent: " + remark + ".\n# @daily nobody-here x\n\n"));
  const auto tasks = tasks_of(import);
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks[0].name, "x");
  EXPECT_EQ(tasks[0].command.user, "root");
  EXPECT_EQ(tasks[1].command.user, "nobody-here");
  EXPECT_EQ(tasks[1].command.directory, "/srv");
}

TEST(ImportCrontab, a_line_of_an_unknown_owner_is_left_out) {
  const Import import = import_crontab("@daily x\n", {.source = "crontab"});
  EXPECT_THAT(tasks_of(import), IsEmpty());
  EXPECT_THAT(remarks_of(import),
              ElementsAre("1: cron runs it in the home directory of its owner, which is unknown on "
                          "this host; set HOME above it"));
}

TEST(ImportCrontab, another_shell_runs_the_commands_below) {
  const auto tasks = tasks_of(import_crontab("@daily a\nSHELL=/bin/bash\n@daily b 'c'", user_form));
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_THAT(tasks[0].command.arguments, ElementsAre("/bin/sh", "-c", "a"));
  EXPECT_THAT(tasks[1].command.arguments, ElementsAre("/bin/bash", "-c", "b 'c'"));
  EXPECT_EQ(tasks[1].command.environment.at("SHELL"), "/bin/bash");
}

TEST(ImportCrontab, mailto_becomes_on_failure_of_the_tasks_below) {
  const Import import = import_crontab(
      "@daily a\nMAILTO=\"o'ps, \\$x <ops@example.com>\"\n@daily b\nMAILTO=\"\"\n@daily c\n"
      "MAILTO=joe\n@daily d\nMAILFROM=cron@example.com\n",
      user_form);
  const auto tasks = tasks_of(import);
  ASSERT_THAT(tasks, SizeIs(4));
  EXPECT_THAT(tasks[0].notifications.on_failure, IsEmpty());
  EXPECT_EQ(tasks[1].command.environment.at("MAILTO"), "o'ps, \\$x <ops@example.com>");
  EXPECT_THAT(tasks[1].notifications.on_failure,
              ElementsAre("/bin/sh", "-c", HasSubstr("| /usr/sbin/sendmail -i -t")));
  EXPECT_THAT(tasks[2].notifications.on_failure, IsEmpty());
  EXPECT_EQ(tasks[3].notifications.on_failure, tasks[1].notifications.on_failure);
  EXPECT_THAT(remarks_of(import),
              ElementsAre(HasSubstr("2: cron mails the output of every run"),
                          HasSubstr("6: cron mails the output of every run"),
                          HasSubstr("8: the mail of on_failure has the sender that sendmail")));
}

// Whatever the address and the error are, they stay in their lines of the mail.
TEST(ImportCrontab, the_mail_has_the_address_and_the_output_as_they_are) {
  const auto tasks = tasks_of(import_crontab("MAILTO=o'ps \"$(x)\" %s\n@daily a", user_form));
  ASSERT_THAT(tasks, SizeIs(1));
  std::string script = tasks[0].notifications.on_failure.at(2);
  const std::string sendmail = "/usr/sbin/sendmail -i -t";
  script.replace(script.find(sendmail), sendmail.size(), "/bin/cat");
  ASSERT_EQ(setenv("SCRIPT", script.c_str(), 1), 0);
  ASSERT_EQ(setenv("MAILTO", tasks[0].command.environment.at("MAILTO").c_str(), 1), 0);
  ASSERT_EQ(setenv("DUTIFUL_TASK", "a%s", 1), 0);
  ASSERT_EQ(setenv("DUTIFUL_ERROR", "exit status 1: \\n'\"", 1), 0);
  std::FILE* const mail = popen("printf 'the\\noutput' | /bin/sh -c \"$SCRIPT\"", "r");
  ASSERT_NE(mail, nullptr);
  std::array<char, 1000> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), mail);
  EXPECT_EQ(pclose(mail), 0);
  EXPECT_EQ(std::string(text.data(), size),
            "To: o'ps \"$(x)\" %s\nSubject: a%s failed: exit status 1: \\n'\"\n\nthe\noutput");
}

TEST(ImportCrontab, input_reaches_the_command_through_a_pipe) {
  const auto tasks =
      tasks_of(import_crontab("@daily cat | wc -l%it's%100\\% \"quoted\" $HOME", user_form));
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_THAT(tasks[0].command.arguments,
              ElementsAre("/bin/sh",
                          "-c",
                          "printf %s \"$2\" | \"$0\" -c \"$1\"",
                          "/bin/sh",
                          "cat | wc -l",
                          "it's\n100% \"quoted\" $HOME\n"));
}

TEST(ImportCrontab, names_are_unique) {
  const auto tasks = tasks_of(import_crontab(
      "@daily /a/x.sh\n@daily /b/x.sh\n@daily x-2\n@daily x\n@daily ''\n", user_form));
  std::vector<std::string> names;
  for (const TaskDefinition& task : tasks) names.push_back(task.name);
  EXPECT_THAT(names, ElementsAre("x", "x-2", "x-2-2", "x-3", "task"));
}

TEST(ImportCrontab, a_leap_day_may_be_eight_years_away) {
  const auto tasks = tasks_of(import_crontab("0 0 29 2 * a\n0 0 28,29 2 * b", user_form));
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks[0].retry_delay, 24h * 2923);
  EXPECT_EQ(tasks[1].retry_delay, 24h * 366);
}

TEST(ImportCrontab, settings_that_all_tasks_share_are_in_the_defaults) {
  const Import import = import_crontab("@daily root a\n@hourly root b\n", system_form);
  EXPECT_THAT(import.task_file, HasSubstr("user = \"root\"\ndirectory = \"/root\"\nenvironment"));
  const auto tasks = tasks_of(import);
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_EQ(tasks[1].command.user, "root");
  EXPECT_EQ(tasks[1].command.directory, "/root");
}

TEST(ImportCrontab, an_empty_crontab_is_an_empty_task_file) {
  const Import import = import_crontab("", user_form);
  EXPECT_THAT(tasks_of(import), IsEmpty());
  EXPECT_THAT(import.remarks, IsEmpty());
}

TEST(ImportCrontab, lines_cannot_break_out_of_their_comments) {
  const Import import = import_crontab(
      "# a\rb\x1b\n*/5 * * * * \x0b\n@daily \xff\n@reboot \xe2\x80\xa8 x\n", user_form);
  EXPECT_THAT(tasks_of(import), SizeIs(1));
  EXPECT_THAT(import.task_file, Not(HasSubstr("\x1b")));
  EXPECT_THAT(import.remarks, SizeIs(2));
}

TEST(TomlText, strings_take_the_better_quotes) {
  EXPECT_EQ(toml_string("a b"), "\"a b\"");
  EXPECT_EQ(toml_string("a\\b \"c\""), "'a\\b \"c\"'");
  EXPECT_EQ(toml_string("it's"), "\"it's\"");
  EXPECT_EQ(toml_string("it's \"\\\""), "\"it's \\\"\\\\\\\"\"");
  EXPECT_EQ(toml_string("a\n\t\x01\x7f\""), "\"a\\n\\t\\u0001\\u007F\\\"\"");
}

TEST(TomlText, comments_may_contain_backslashes_and_tabs) {
  EXPECT_EQ(toml_comment(""), "#");
  EXPECT_EQ(toml_comment("a\\\tb\nc\xff"), "# a\\\tb\\nc\\xff");
}

// Pieces of crontabs, valid and invalid.
rc::Gen<std::string> piece() {
  return rc::gen::oneOf(rc::gen::element<std::string>("\n",
                                                      "* * * * * ",
                                                      "*/5 1-3,mon */2 * 7 ",
                                                      "@daily ",
                                                      "@reboot",
                                                      "root ",
                                                      "%",
                                                      "\\",
                                                      "\\%",
                                                      "'",
                                                      "\"",
                                                      "#",
                                                      "A=",
                                                      "HOME=",
                                                      "SHELL=",
                                                      "CRON_TZ=UTC\n",
                                                      "MAILTO=x\n",
                                                      "\t",
                                                      "\r",
                                                      "é",
                                                      "\xff",
                                                      "\x01"),
                        rc::gen::string<std::string>());
}

RC_GTEST_PROP(ImportCrontabProperty, always_writes_a_task_file_that_loads, ()) {
  std::string text;
  for (const std::string& next : *rc::gen::container<std::vector<std::string>>(piece()))
    text += next;
  for (const ImportOptions& options : {user_form, system_form}) {
    const Import import = import_crontab(text, options);
    RC_ASSERT(parse_task_file(import.task_file).problems.empty());
    std::size_t jobs = 0;
    for (const CrontabLine& line : read_crontab(text, options.form)) {
      const auto& job = line.job;
      jobs += job && (job->environment.contains("HOME") || options.home_of(job->user)) ? 1 : 0;
    }
    RC_ASSERT(parse_task_file(import.task_file).tasks.size() == jobs);
  }
}

}  // namespace
}  // namespace dutiful
