#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program_in_test.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::HasSubstr;
using testing::Not;

class ImportCommand : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) {
    std::ofstream{directory_.file(name), std::ios::binary} << text;
    return directory_.file(name);
  }

  TemporaryDirectory directory_;
};

TEST_F(ImportCommand, prints_a_task_file_that_can_be_checked) {
  const auto imported =
      dutiful({"import-crontab", write("crontab", "*/15 9-17 * * mon-fri sort\n")});
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.err, "");

  const auto checked = dutiful({"check", "--json", write("tasks.toml", imported.out)});
  EXPECT_EQ(checked.status, 0) << checked.err;
  const auto task = nlohmann::json::parse(checked.out)["tasks"].at(0);
  EXPECT_EQ(task["name"], "sort");
  EXPECT_EQ(task["cron"], "0,15,30,45 9-17 * * 1-5");
  EXPECT_EQ(task["next"].at(0), "2025-06-02T09:00:00+00:00");
}

TEST_F(ImportCommand, reports_lines_without_an_equivalent) {
  const std::string file = write("crontab", "@daily true\n\n@reboot true\n0 0 */2 * 1 true\n");
  const auto result = dutiful({"import-crontab", file});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("cron = \"0 0 * * *\""));
  EXPECT_THAT(result.err,
              HasSubstr("dutiful: " + file + ":3: no equivalent: @reboot is not a time"));
  EXPECT_THAT(result.err,
              HasSubstr("dutiful: " + file + ":4: no equivalent: cron runs it on days"));
}

TEST_F(ImportCommand, reads_the_system_form_if_asked) {
  const std::string file = write("crontab", "@daily root true\n");
  EXPECT_THAT(dutiful({"import-crontab", "--system", file}).out, HasSubstr("run = \"true\"\n"));
  EXPECT_THAT(dutiful({"import-crontab", "--system", file}).out, HasSubstr("user = \"root\"\n"));
  EXPECT_THAT(dutiful({"import-crontab", file}).out, HasSubstr("run = \"root true\"\n"));
  EXPECT_THAT(dutiful({"import-crontab", file}).out, Not(HasSubstr("user =")));
}

TEST_F(ImportCommand, leaves_out_the_lines_of_unknown_users) {
  const std::string file = write("crontab", "@daily no-such-user true\n");
  const auto result = dutiful({"import-crontab", "--system", file});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, Not(HasSubstr("[[task]]")));
  EXPECT_THAT(result.out, HasSubstr("\n# @daily no-such-user true\n"));
  EXPECT_THAT(result.err,
              HasSubstr(file + ":1: no equivalent: cron runs it in the home directory"));
}

TEST_F(ImportCommand, an_unreadable_file_is_wrong_usage) {
  const auto result = dutiful({"import-crontab", directory_.file("missing")});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace dutiful
