#include "daemon/task_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TaskDefinition task(const std::string& name) {
  return {.name = name,
          .cron = "* * * * *",
          .retry_delay = 1min,
          .time_limit = 30min,
          .command = {.arguments = {"/bin/sh", "-c", "true"}}};
}

// The keys that differ after `change`.
template <typename Change>
std::vector<std::string> keys_after(Change change) {
  TaskDefinition after = task("a");
  change(after);
  const auto changes = find_changes(std::vector{task("a")}, std::vector{after});
  return changes.empty() ? std::vector<std::string>{} : changes.front().keys;
}

TEST(TaskChanges, name_the_keys_that_the_scheduler_does_not_know) {
  EXPECT_THAT(keys_after([](TaskDefinition& a) { a.time_limit = 1h; }), ElementsAre("timeout"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) { a.command.arguments = {"true"}; }),
              ElementsAre("run"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) { a.command.directory = "/"; }),
              ElementsAre("directory"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) { a.command.environment["A"] = "1"; }),
              ElementsAre("environment"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) { a.command.user = "nobody"; }),
              ElementsAre("user"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) { a.notifications.on_failure = {"mail"}; }),
              ElementsAre("on_failure"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) {
                a.notifications = {
                    .on_recovery = {"mail"}, .on_success = {"date"}, .after = std::uint32_t{3}};
              }),
              ElementsAre("on_recovery", "on_success", "notify_after"));
  EXPECT_THAT(keys_after([](TaskDefinition& a) {
                a.command.user = "nobody";
                a.command.arguments.back() = "false";
                a.time_limit = 0s;
              }),
              ElementsAre("run", "user", "timeout"));
}

// The scheduler reports a changed expression or delay itself (TaskOverridden). The place of a task
// in the file does not matter.
TEST(TaskChanges, omit_the_keys_that_the_scheduler_knows) {
  EXPECT_THAT(keys_after([](TaskDefinition& a) {
                a.cron = "0 0 * * *";
                a.retry_delay = 0s;
                a.place = {.line = 7, .column = 1};
                a.command_is_shared = true;
              }),
              IsEmpty());
}

TEST(TaskChanges, are_those_of_tasks_in_both_lists_in_any_order) {
  TaskDefinition limited = task("b");
  limited.time_limit = 0s;
  const auto changes = find_changes(std::vector{task("gone"), task("a"), task("b")},
                                    std::vector{limited, task("new"), task("a")});
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].task, "b");
  EXPECT_EQ(changes[0].time_limit_before, 30min);
  EXPECT_EQ(changes[0].time_limit, 0s);
}

}  // namespace
}  // namespace dutiful
