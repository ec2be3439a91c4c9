#include "core/schedules.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class SchedulesTest : public testing::Test {
 protected:
  Instant now = at("2025-03-03T10:00:30Z");
  Schedules schedules{Calendar{Zone::utc()}};

  Schedules::Number add(const std::string& cron, std::initializer_list<std::uint32_t> ranks) {
    const auto number = schedules.add(cron, CronExpression::parse(cron));
    for (const std::uint32_t rank : ranks) schedules.add_task(number, task_of(rank), rank);
    return number;
  }

  static TaskId task_of(std::uint32_t rank) { return 100 - rank; }

  // Begins the delivery of every pulse up to then.
  void begin_deliveries(Instant until) {
    now = until;
    while (schedules.next_pulse() <= now) schedules.begin_delivery(now);
  }

  // The tasks of all deliveries, in their order.
  std::vector<TaskId> deliver_all() {
    std::vector<TaskId> tasks;
    while (schedules.is_delivering()) {
      if (const auto delivery = schedules.deliver_next()) tasks.push_back(delivery->task);
    }
    return tasks;
  }
};

TEST_F(SchedulesTest, deliver_the_earlier_pulse_first_and_equal_ones_by_rank) {
  add("2 10 * * *", {0});
  add("1 10 * * *", {1, 4});
  add("1-2 10 * * *", {2, 3});
  schedules.await_pulses(now);
  begin_deliveries(at("2025-03-03T10:01:00Z"));
  EXPECT_EQ(schedules.undelivered(), 4U);
  EXPECT_EQ(deliver_all(), (std::vector<TaskId>{task_of(1), task_of(2), task_of(3), task_of(4)}));
  EXPECT_EQ(schedules.undelivered(), 0U);
  begin_deliveries(at("2025-03-03T10:02:00Z"));
  EXPECT_EQ(deliver_all(), (std::vector<TaskId>{task_of(0), task_of(2), task_of(3)}));
}

TEST_F(SchedulesTest, know_the_pulse_under_delivery_until_the_last_task_has_it) {
  const auto number = add("1 * * * *", {0, 1});
  schedules.await_pulses(now);
  EXPECT_EQ(schedules.under_delivery(number), no_instant);
  const Instant pulse = at("2025-03-03T10:01:00Z");
  begin_deliveries(pulse);
  EXPECT_EQ(schedules.under_delivery(number), pulse);
  EXPECT_EQ(schedules.deliver_next_of(number)->pulse, pulse);
  EXPECT_EQ(schedules.under_delivery(number), pulse);
  EXPECT_EQ(schedules.deliver_next_of(number)->task, task_of(1));
  EXPECT_EQ(schedules.under_delivery(number), no_instant);
  EXPECT_EQ(schedules.deliver_next_of(number), std::nullopt);
  EXPECT_TRUE(deliver_all().empty());  // their entry is stale
}

// C5
TEST_F(SchedulesTest, have_no_next_pulse_if_none_is_ever_due) {
  add("0 0 30 2 *", {0});
  schedules.await_pulses(now);
  EXPECT_EQ(schedules.next_pulse(), Instant::max());
}

// X3: pulses that are delivered by schedule leave entries behind.
TEST_F(SchedulesTest, do_not_grow_with_time) {
  const auto number = add("* * * * *", {0, 1});
  schedules.await_pulses(now);
  for (int minute = 0; minute < 1000; ++minute) {
    begin_deliveries(now + 1min);
    while (schedules.deliver_next_of(number)) {
    }
  }
  EXPECT_LE(schedules.queued(), 4U);
}

}  // namespace
}  // namespace dutiful
