#include "tasks/crontab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

CrontabJob job(const std::string& text, CrontabForm form = CrontabForm::user) {
  for (const CrontabLine& line : read_crontab(text, form)) {
    if (line.job) return *line.job;
  }
  ADD_FAILURE() << "no job in " << text;
  return {};
}

// Why the last line has no equivalent.
std::string reason(const std::string& text, CrontabForm form = CrontabForm::user) {
  const auto lines = read_crontab(text, form);
  return lines.empty() ? "" : lines.back().no_equivalent;
}

TEST(Crontab, reads_the_lines_of_a_user) {
  const auto lines = read_crontab(
      "# m h dom mon dow command\n\n  \t\n*/5 *  * * \t*   /bin/a  b \n\t# indented\n@daily c",
      CrontabForm::user);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[0].number, 1U);
  EXPECT_EQ(lines[0].text, "# m h dom mon dow command");
  EXPECT_FALSE(lines[0].job);
  EXPECT_EQ(lines[1].number, 4U);
  EXPECT_EQ(lines[1].job->cron, "0,5,10,15,20,25,30,35,40,45,50,55 * * * *");
  EXPECT_EQ(lines[1].job->command, "/bin/a  b ");
  EXPECT_EQ(lines[2].number, 5U);
  EXPECT_EQ(lines[3].job->cron, "0 0 * * *");
  EXPECT_EQ(lines[3].job->command, "c");
}

TEST(Crontab, reads_the_user_of_a_system_crontab) {
  EXPECT_EQ(job("17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly", CrontabForm::system).user,
            "root");
  EXPECT_EQ(job("17 *\t* * *\troot\tcd /", CrontabForm::system).command, "cd /");
  EXPECT_EQ(job("@hourly www-data x", CrontabForm::system).user, "www-data");
  EXPECT_THAT(reason("17 * * * * root", CrontabForm::system), HasSubstr("no user or no command"));
}

TEST(Crontab, reads_macros) {
  EXPECT_EQ(job("@hourly x").cron, "0 * * * *");
  EXPECT_EQ(job("@midnight x").cron, "0 0 * * *");
  EXPECT_EQ(job("@weekly x").cron, "0 0 * * 0");
  EXPECT_EQ(job("@monthly x").cron, "0 0 1 * *");
  EXPECT_EQ(job("@yearly x").cron, "0 0 1 1 *");
  EXPECT_EQ(job("@annually x").cron, "0 0 1 1 *");
  EXPECT_THAT(reason("@reboot x"), HasSubstr("not a time"));
  EXPECT_THAT(reason("@Daily x"), HasSubstr("no macro \"@Daily\""));
  EXPECT_THAT(reason("@every_minute x"), HasSubstr("no macro"));
  EXPECT_THAT(reason("@daily"), HasSubstr("no command"));
}

TEST(Crontab, variables_apply_to_the_lines_below) {
  const auto lines =
      read_crontab("@daily a\nA=1\n@daily b\nA = 2\nB=\n@daily c\n", CrontabForm::user);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0].job->environment, IsEmpty());
  EXPECT_THAT(lines[1].job->environment, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(lines[2].job->environment, ElementsAre(Pair("A", "2"), Pair("B", "")));
}

TEST(Crontab, variables_are_quoted_as_in_cron) {
  const auto variable = [](const std::string& line) {
    return job(line + "\n@daily x").environment;
  };
  EXPECT_THAT(variable("  A =  b c  "), ElementsAre(Pair("A", "b c")));
  EXPECT_THAT(variable("A=\" b \"  "), ElementsAre(Pair("A", " b ")));
  EXPECT_THAT(variable("A=' \"b\" '"), ElementsAre(Pair("A", " \"b\" ")));
  EXPECT_THAT(variable("\"A\"=b"), ElementsAre(Pair("A", "b")));
  EXPECT_THAT(variable("A=b # not a comment"), ElementsAre(Pair("A", "b # not a comment")));
  EXPECT_THAT(variable("PATH=$HOME/bin:\"x\""), ElementsAre(Pair("PATH", "$HOME/bin:\"x\"")));
  EXPECT_THAT(variable("A=b=c"), ElementsAre(Pair("A", "b=c")));
  EXPECT_THAT(variable("LOGNAME=somebody"), IsEmpty()) << "which cron does not allow";
  EXPECT_THAT(reason("A=\"b"), HasSubstr("neither a variable nor"));
  EXPECT_THAT(reason("A=\"b\" c"), HasSubstr("neither a variable nor"));
  EXPECT_THAT(reason("=b"), HasSubstr("neither a variable nor"));
  EXPECT_EQ(job("* * * * * A=b c").command, "A=b c");
}

TEST(Crontab, percent_signs_end_the_command) {
  const auto split = [](const std::string& text) {
    const CrontabJob read = job("@daily " + text);
    return read.command + '|' + read.input;
  };
  EXPECT_EQ(split("date +\\%F"), "date +%F|");
  EXPECT_EQ(split("mail -s x joe%Joe,%%Where are you?%"), "mail -s x joe|Joe,\n\nWhere are you?\n");
  EXPECT_EQ(split("cat%a\\%b"), "cat|a%b\n");
  EXPECT_EQ(split("cat%a\\b\\"), "cat|a\\b\\\n");
  EXPECT_EQ(split("cat%a%\\"), "cat|a\n\\");
  EXPECT_EQ(split("cat%"), "cat|");
  EXPECT_EQ(split("%a"), "|a\n");
}

// As observed with cron 3.0pl1-162 of Debian 12.
TEST(Crontab, backslashes_are_escaped_as_with_the_cron_of_Debian) {
  const auto split = [](const std::string& text) {
    const CrontabJob read = job("@daily " + text);
    return read.command + '|' + read.input;
  };
  EXPECT_EQ(split(R"(a\b)"), R"(a\b|)");
  EXPECT_EQ(split(R"(a\\b)"), R"(a\b|)");
  EXPECT_EQ(split(R"(a\\\\b)"), R"(a\\b|)");
  EXPECT_EQ(split(R"(a\\\%b\c)"), R"(a\%b\c|)");
  EXPECT_EQ(split(R"(a\\\b)"), R"(a\\b|)");
  EXPECT_EQ(split(R"(a\\%b)"), "a\\|b\n");
  EXPECT_EQ(split(R"(cat%y\\%z\%w)"), "cat|y\\%z%w\n");
  EXPECT_EQ(split(R"(cat%a\\b\)"), "cat|a\\\\b\\\n");
}

TEST(Crontab, variables_that_control_cron_have_no_equivalent) {
  EXPECT_THAT(reason("MAILTO=root"), HasSubstr("on_failure of the tasks below mails"));
  EXPECT_EQ(reason("MAILTO=\"\""), "");
  EXPECT_THAT(reason("RANDOM_DELAY=5"), HasSubstr("does not delay"));
  EXPECT_THAT(reason("CRON_TZ=UTC"), HasSubstr("only in the host's time zone"));
  EXPECT_THAT(reason("CRON_TZ=Asia/Tokyo\n@daily x"), HasSubstr("\"Asia/Tokyo\""));
  EXPECT_THAT(reason("SHELL=\n@daily x"), HasSubstr("SHELL is empty"));
}

TEST(Crontab, lines_that_a_task_file_cannot_contain_are_reported) {
  EXPECT_THAT(reason("@daily \xff"), HasSubstr("not UTF-8"));
  EXPECT_THAT(reason(std::string{"@daily a\0b", 10}), HasSubstr("NUL"));
  EXPECT_THAT(reason("@daily a\r\n"), HasSubstr("carriage return"));
  EXPECT_THAT(read_crontab("\r\n\r\n", CrontabForm::user), IsEmpty());
  EXPECT_THAT(reason("hello world"), HasSubstr("neither a variable nor five fields"));
  EXPECT_THAT(reason("* * * * *"), HasSubstr("no command"));
}

}  // namespace
}  // namespace dutiful
