#include "cli/retention_argument.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

std::string retention_of(const std::string& text) {
  Retention retention;
  try {
    read_retention("--history", text, retention);
  } catch (const UsageError& error) {
    return error.what();
  }
  return std::to_string(retention.runs) + " runs, " + std::to_string(retention.age / 1h) + " h";
}

TEST(RetentionArgument, is_a_number_of_runs_an_age_or_both) {
  EXPECT_EQ(retention_of("100"), "100 runs, 0 h");
  EXPECT_EQ(retention_of("14d"), "0 runs, 336 h");
  EXPECT_EQ(retention_of("100,14d"), "100 runs, 336 h");
  EXPECT_EQ(retention_of("1d12h,5"), "5 runs, 36 h");
  EXPECT_EQ(retention_of("0"), "0 runs, 0 h");
}

TEST(RetentionArgument, is_rejected_if_it_is_anything_else) {
  EXPECT_EQ(retention_of("lots"),
            "--history: \"lots\" is not an amount of history; write a number of runs such as 100, "
            "an age such as 14d, or both: 100,14d");
  for (const char* text : {"", ",", "100,", ",7d", "-1", "100 7d", "1.5d", "7d,,100"}) {
    EXPECT_THAT(retention_of(text), testing::HasSubstr("is not an amount of history")) << text;
  }
  EXPECT_THAT(retention_of("1,2"), testing::HasSubstr("has two numbers of runs"));
  EXPECT_THAT(retention_of("1d,2d"), testing::HasSubstr("has two ages"));
  EXPECT_THAT(retention_of("9999999d"), testing::HasSubstr("--history: \"9999999d\""));
  EXPECT_THAT(retention_of("99999999999999999999"), testing::HasSubstr("is too large"));
}

std::string size_of(const std::string& text) {
  try {
    return std::to_string(read_size("--history-output", text, 1024UL * 1024));
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(SizeArgument, is_a_number_of_bytes_kibibytes_or_mebibytes) {
  EXPECT_EQ(size_of("0"), "0");
  EXPECT_EQ(size_of("100"), "100");
  EXPECT_EQ(size_of("100B"), "100");
  EXPECT_EQ(size_of("8KiB"), "8192");
  EXPECT_EQ(size_of("1MiB"), "1048576");
}

TEST(SizeArgument, is_rejected_if_it_is_anything_else) {
  EXPECT_EQ(size_of("8kb"),
            "--history-output: \"8kb\" is not a size; write a number of bytes, or a size such as "
            "8KiB, up to 1024KiB");
  for (const char* text : {"", "KiB", "-1", "1.5MiB", "8 KiB", "8K", "8GiB"}) {
    EXPECT_THAT(size_of(text), testing::HasSubstr("is not a size")) << text;
  }
  for (const char* text : {"1048577", "2MiB", "99999999999999999999", "18014398509481984KiB"}) {
    EXPECT_THAT(size_of(text), testing::HasSubstr("is too large")) << text;
  }
}

}  // namespace
}  // namespace dutiful
