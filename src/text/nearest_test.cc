#include "text/nearest.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

constexpr std::array<std::string_view, 8> keys{
    "name", "cron", "run", "retry", "timeout", "directory", "environment", "user"};

TEST(Nearest, one_edit_is_near) {
  EXPECT_EQ(nearest("nam", keys), "name");
  EXPECT_EQ(nearest("names", keys), "name");
  EXPECT_EQ(nearest("rum", keys), "run");
  EXPECT_EQ(nearest("corn", keys), "cron");
  EXPECT_EQ(nearest("Retry", keys), "retry");
}

TEST(Nearest, long_words_may_have_more_edits) {
  EXPECT_EQ(nearest("enviroment", keys), "environment");
  EXPECT_EQ(nearest("time_out", keys), "timeout");
  EXPECT_EQ(nearest("retries", keys), "retry");
  EXPECT_EQ(nearest("direktori", keys), "directory");
}

TEST(Nearest, a_prefix_is_near) {
  EXPECT_EQ(nearest("env", keys), "environment");
  EXPECT_EQ(nearest("dir", keys), "directory");
}

TEST(Nearest, everything_else_is_not_near) {
  EXPECT_EQ(nearest("schedule", keys), "");
  EXPECT_EQ(nearest("command", keys), "");
  EXPECT_EQ(nearest("max", keys), "");
  EXPECT_EQ(nearest("", keys), "");
  EXPECT_EQ(nearest("e", keys), "");
  EXPECT_EQ(nearest("ru", keys), "");
  EXPECT_EQ(nearest("name", {}), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'n'), keys), "");
}

}  // namespace
}  // namespace dutiful
