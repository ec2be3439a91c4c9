#include "daemon/file_warnings.h"

#include <string>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

// Each has one warning.
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

  std::size_t told = 0;
  std::size_t more = 0;
  FileWarnings warnings{{.report = [this](const Problem&) { ++told; },
                         .report_more = [this](std::size_t count) { more += count; }}};
};

// So a signal waits for no more than a few of a hundred thousand.
TEST_F(FileWarningsTest, come_a_few_tasks_at_a_time) {
  const auto list = tasks(40);
  begin(list);
  EXPECT_EQ(told, 0U);
  warnings.step();
  EXPECT_EQ(told, 16U);
  EXPECT_EQ(finish(), 2);
  EXPECT_EQ(told, 40U);
  EXPECT_EQ(more, 0U);
}

TEST_F(FileWarningsTest, are_counted_where_there_are_too_many) {
  const auto list = tasks(250);
  begin(list);
  finish();
  EXPECT_EQ(told, 100U);
  EXPECT_EQ(more, 150U);
}

TEST_F(FileWarningsTest, are_about_the_last_list_alone) {
  const auto first = tasks(250);
  begin(first);
  for (int i = 0; i < 10; ++i) warnings.step();
  told = 0;
  const auto second = tasks(20);
  begin(second);
  finish();
  EXPECT_EQ(told, 20U);
  EXPECT_EQ(more, 0U);
  begin(first);
  warnings.end();
  EXPECT_FALSE(warnings.has_more());
}

TEST_F(FileWarningsTest, tell_that_there_is_no_task) {
  const std::vector<TaskDefinition> none;
  begin(none);
  EXPECT_EQ(finish(), 1);
  EXPECT_EQ(told, 1U);
}

}  // namespace
}  // namespace dutiful
