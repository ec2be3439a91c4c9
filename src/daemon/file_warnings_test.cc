#include "daemon/file_warnings.h"

#include <string>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

// Each task has one warning.
std::vector<TaskDefinition> tasks(int count) {
  std::vector<TaskDefinition> list;
  for (int i = 0; i < count; ++i) {
    list.push_back({.name = std::to_string(i),
                    .cron = "0 0 30 2 *",
                    .command = {.arguments = {"/bin/sh", "-c", std::to_string(i)}}});
  }
  return list;
}

class FileWarningsTest : public testing::Test {
 protected:
  void begin(const std::vector<TaskDefinition>& list) {
    warnings.begin(list, Calendar{Zone::utc()}, at("2025-03-03T10:00:00Z"));
  }
  int finish() {
    int steps = 0;
    for (; warnings.has_more(); ++steps) warnings.step();
    return steps;
  }

  std::size_t reported = 0;
  std::size_t more = 0;
  FileWarnings warnings{{.report = [this](const Problem&) { ++reported; },
                         .report_more = [this](std::size_t count) { more += count; }}};
};

// So a signal waits for only a few tasks, even if there are a hundred thousand.
TEST_F(FileWarningsTest, are_found_a_few_tasks_at_a_time) {
  const auto list = tasks(40);
  begin(list);
  EXPECT_EQ(reported, 0U);
  warnings.step();
  EXPECT_EQ(reported, 16U);
  EXPECT_EQ(finish(), 2);
  EXPECT_EQ(reported, 40U);
  EXPECT_EQ(more, 0U);
}

TEST_F(FileWarningsTest, beyond_the_limit_are_only_counted) {
  const auto list = tasks(250);
  begin(list);
  finish();
  EXPECT_EQ(reported, 100U);
  EXPECT_EQ(more, 150U);
}

TEST_F(FileWarningsTest, are_about_the_newest_list_only) {
  const auto first = tasks(250);
  begin(first);
  for (int i = 0; i < 10; ++i) warnings.step();
  reported = 0;
  const auto second = tasks(20);
  begin(second);
  finish();
  EXPECT_EQ(reported, 20U);
  EXPECT_EQ(more, 0U);
  begin(first);
  warnings.end();
  EXPECT_FALSE(warnings.has_more());
}

TEST_F(FileWarningsTest, include_an_empty_list) {
  const std::vector<TaskDefinition> none;
  begin(none);
  EXPECT_EQ(finish(), 1);
  EXPECT_EQ(reported, 1U);
}

}  // namespace
}  // namespace dutiful
