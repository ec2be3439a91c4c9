#include "commands/command_inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "commands/commands_in_test.h"
#include "support/allocations.h"

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Inbox : public testing::Test {
 protected:
  void put(const std::string& task) {
    inbox.put({.command = nullptr, .account = nullptr, .run = run_of(task)});
  }
  // The name of its task, or nothing.
  std::string next() {
    const auto order = inbox.next_order();
    return order ? order->run.info().task : "";
  }
  bool rings() {
    pollfd waiting{.fd = inbox.descriptor(), .events = POLLIN, .revents = 0};
    const bool rang = poll(&waiting, 1, 0) > 0;
    inbox.take_rings();
    return rang;
  }

  CommandInbox inbox;
};

TEST_F(Inbox, keeps_orders_until_it_is_open_and_hands_them_out_in_turn) {
  put("a");
  put("b");
  EXPECT_EQ(next(), "");
  inbox.open();
  EXPECT_EQ(next(), "a");
  EXPECT_EQ(next(), "b");
  EXPECT_EQ(next(), "");
}

TEST_F(Inbox, hands_out_commands_of_tasks_before_those_beside_them) {
  inbox.put({.command = nullptr,
             .account = nullptr,
             .run = run_of("beside"),
             .beside = std::make_unique<const Beside>()});
  EXPECT_TRUE(inbox.are_any());
  put("a");
  put("b");
  inbox.open();
  EXPECT_EQ(next(), "a");
  EXPECT_EQ(next(), "b");
  EXPECT_EQ(next(), "beside");
  EXPECT_EQ(next(), "");
  EXPECT_FALSE(inbox.are_any());
}

TEST_F(Inbox, hands_out_orders_when_all_must_end_though_it_was_never_open) {
  put("a");
  inbox.end_all();
  EXPECT_TRUE(inbox.requests().end_all);
  EXPECT_FALSE(inbox.requests().quit);
  EXPECT_EQ(next(), "a");
}

TEST_F(Inbox, knows_of_runs_that_wait_or_run) {
  EXPECT_FALSE(inbox.are_any());
  put("a");
  EXPECT_TRUE(inbox.are_any());
  inbox.open();
  auto order = inbox.next_order();
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(next(), "");
  EXPECT_TRUE(inbox.are_any());  // it is being started
  RunningCommand command{1, std::move(order->run), 100, std::move(order->counted)};
  order.reset();
  EXPECT_TRUE(inbox.are_any());
  command.counted.leave();
  EXPECT_FALSE(inbox.are_any());
}

TEST_F(Inbox, hands_out_overdue_commands_once) {
  inbox.put_overdue(4);
  inbox.put_overdue(2);
  EXPECT_THAT(inbox.take_overdue(), ElementsAre(4, 2));
  EXPECT_THAT(inbox.take_overdue(), IsEmpty());
}

TEST_F(Inbox, takes_overdue_commands_without_memory_if_there_is_room) {
  inbox.reserve_overdue(2);
  const std::uint64_t before = allocations();
  for (int round = 0; round < 3; ++round) {
    inbox.put_overdue(1);
    inbox.put_overdue(2);
    EXPECT_EQ(inbox.take_overdue().size(), 2U);
  }
  EXPECT_EQ(allocations(), before);
}

TEST_F(Inbox, rings_for_everything_that_it_is_asked) {
  EXPECT_FALSE(rings());
  put("a");
  EXPECT_TRUE(rings());
  EXPECT_FALSE(rings());
  inbox.open();
  EXPECT_TRUE(rings());
  inbox.put_overdue(1);
  EXPECT_TRUE(rings());
  inbox.end_all();
  EXPECT_TRUE(rings());
  inbox.quit();
  EXPECT_TRUE(rings());
  EXPECT_TRUE(inbox.requests().quit);
}

}  // namespace
}  // namespace dutiful
