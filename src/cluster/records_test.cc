#include "cluster/records.h"

#include <gtest/gtest.h>

namespace dutiful::cluster {
namespace {

using namespace std::chrono_literals;

constexpr MemberId alive{1};
constexpr MemberId dead{2};
constexpr Instant now = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
const std::vector<MemberRow> members{{.id = alive}};
const RunKey run{"a", 7};

// N4, N6: the first three rows of the order death, mail, orphan.
TEST(EndOf, a_run_is_known_by_mail_before_it_is_known_by_death) {
  const std::vector<Mail> mail{{.run = run, .result = RunResult::success, .at = now}};

  EXPECT_FALSE(end_of(run, alive, members, {}));
  EXPECT_EQ(end_of(run, dead, members, {})->result, RunResult::interrupted);
  EXPECT_EQ(end_of(run, dead, members, mail)->result, RunResult::success);
  EXPECT_EQ(end_of(run, alive, members, mail)->posted, now);
}

// Mail names the run by its fence: the late end of one run must not end the next.
TEST(EndOf, a_run_is_not_that_of_another_run_of_the_task) {
  const std::vector<Mail> mail{{.run = {"a", 6}, .result = RunResult::success, .at = now}};

  EXPECT_FALSE(end_of(run, alive, members, mail));
}

std::vector<Record> replaced(std::vector<TaskConfig> list,
                             std::vector<Record> records,
                             const std::vector<Mail>& mail = {}) {
  return replace_list(std::move(list),
                      std::move(records),
                      members,
                      mail,
                      now,
                      Calendar{Zone::utc()},
                      Override::keep_history);
}

Record running_on(MemberId runner) {
  return {.config = {.name = "a", .cron = "* * * * *", .retry_delay = 5s},
          .progress = {.state = TaskState::running,
                       .attempt = 1,
                       .fence = 7,
                       .first_coming = now,
                       .served_until = now,
                       .last_attempt = now},
          .runner = runner};
}

// N8: a removed task that still runs keeps its record until that run ends.
TEST(ReplaceList, keeps_the_record_of_a_removed_task_that_runs) {
  const auto records = replaced({}, {running_on(alive)});

  ASSERT_EQ(records.size(), 1U);
  EXPECT_FALSE(records[0].registered);
  EXPECT_EQ(records[0].runner, alive);
}

TEST(ReplaceList, forgets_a_removed_task_whose_member_has_died) {
  EXPECT_TRUE(replaced({}, {running_on(dead)}).empty());
}

// I4: a name that is added again waits for that run to end.
TEST(ReplaceList, lets_a_task_that_is_added_again_wait_for_its_run) {
  Record removed = running_on(alive);
  removed.registered = false;

  const auto records = replaced({removed.config}, {removed});

  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].registered);
  EXPECT_EQ(records[0].progress.state, TaskState::running);
  EXPECT_EQ(records[0].progress.fence, 7U);
  EXPECT_EQ(records[0].runner, alive);
}

TEST(ReplaceList, counts_a_posted_failure_from_its_post) {
  const std::vector<Mail> mail{{.run = run, .result = RunResult::failure, .at = now - 2s}};

  const auto records = replaced({running_on(alive).config}, {running_on(alive)}, mail);

  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].progress.state, TaskState::awaiting_retry);
  EXPECT_EQ(records[0].progress.retry_at, now + 3s);
  EXPECT_EQ(records[0].runner, MemberId::none);
}

}  // namespace
}  // namespace dutiful::cluster
