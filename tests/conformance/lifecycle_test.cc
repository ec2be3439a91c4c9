// Section I of the rules: the scheduler's lifecycle. Threads are in runtime/scheduler_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/world.h"
#include "support/journal.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(I3, reports_the_first_registration_that_is_wrong) {
  World world{"2025-03-03T10:00:00Z"};
  EXPECT_THROW(world.initialize({{"a", "* * * * *"}, {"b", "x"}, {"a", "* * * * *"}}),
               CronExpressionInvalidError);
  EXPECT_THROW(world.initialize({{"a", "* * * * *"}, {"a", "* * * * *"}, {"b", "x"}}),
               ScheduleDuplicateTaskError);
  EXPECT_EQ(world.starts(), Starts{});
}

// Within one registration: its name, a duplicate, its expression, its callback, its retry delay,
// its time limit.
TEST(I3, checks_a_registration_in_the_order_of_its_fields) {
  const std::string large(1025, '0');
  const Callback none{};
  const Callback work{[] {}};
  struct Row {
    Registration first;
    Registration second;
    const char* expected;  // the error, and of an InvalidRegistrationError the field
  };
  const Row rows[] = {
      {{"", large, none, -1ms, -1ms}, {"", "x", none, -1ms, -1ms}, "InvalidRegistrationError name"},
      {{large, large, none, -1ms, -1ms}, {}, "InvalidRegistrationError name"},
      {{"a", "* * * * *", work, 0ms, 0ms},
       {"a", large, none, -1ms, -1ms},
       "ScheduleDuplicateTaskError"},
      {{"a", large, none, -1ms, -1ms}, {}, "InvalidRegistrationError cronExpression"},
      {{"a", "x", none, -1ms, -1ms}, {}, "CronExpressionInvalidError"},
      {{"a", "* * * * *", none, -1ms, -1ms}, {}, "InvalidRegistrationError callback"},
      {{"a", "* * * * *", work, -1ms, -1ms}, {}, "NegativeRetryDelayError"},
      {{"a", "* * * * *", work, 0ms, -1ms}, {}, "InvalidRegistrationError timeLimit"},
      // Whatever is wrong with the second, the first is reported.
      {{"a", "* * * * *", work, 0ms, -1ms}, {"a", "x", none}, "InvalidRegistrationError timeLimit"},
      {{"a", "* * * * *", work, -1ms, 0ms}, {"b", "* * * * *", none}, "NegativeRetryDelayError"},
      {{"a", "* * * * *", none},
       {"b", "* * * * *", work, -1ms},
       "InvalidRegistrationError callback"},
  };
  for (const Row& row : rows) {
    VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"), {.zone = Zone::utc()}};
    std::string thrown;
    try {
      scheduler.initialize({row.first, row.second});
    } catch (const InvalidRegistrationError& error) {
      thrown = std::string{error.name()} + ' ' + error.field();
    } catch (const Error& error) {
      thrown = error.name();
    }
    EXPECT_EQ(thrown, row.expected) << "line " << &row - rows;
  }
}

TEST(I4, rejects_a_second_list_and_changes_nothing) {
  World world{"2025-03-03T10:00:30Z"};
  world.initialize({{"a", "5 * * * *"}});
  EXPECT_THROW(world.initialize({{"b", "* * * * *"}}), SchedulerAlreadyActiveError);
  world.advance(1h);
  EXPECT_EQ(world.starts(), Starts{"10:05:00 a cron"});
}

TEST(I4, reconciles_where_told_to) {
  World world{"2025-03-03T10:00:30Z",
              {.reinitialize = Reinitialize::reconcile, .zone = Zone::utc()}};
  world.script("a", {Does::go_on});
  world.initialize({{"a", "0 * * * *"}});
  EXPECT_EQ(world.starts(), Starts{"10:00:30 a boot"});
  world.initialize({{"b", "1 * * * *"}});
  world.advance(1min);
  EXPECT_EQ(world.starts(), Starts{"10:01:00 b cron"});
  // A removed task's run goes on; the name, added again, waits for it.
  world.initialize({{"a", "* * * * *"}});
  world.advance(5min);
  EXPECT_EQ(world.starts(), Starts{});
  world.end("a");
  EXPECT_EQ(world.starts().size(), 1);
}

// What happens where a task "a", due at 10:01 and 11:01, gives its scheduler another list.
Entries lists_from_a_callback(Reinitialize policy) {
  Journal journal;
  const auto clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
  Scheduler scheduler{{.reinitialize = policy, .zone = Zone::utc(), .clock = clock}};
  const auto give_another_list = [&] {
    try {
      scheduler.initialize({{"b", "* * * * *", [&] { journal.add("b runs"); }, 1min}});
      journal.add("taken");
    } catch (const SchedulerAlreadyActiveError& error) {
      journal.add("refused: " + error.current_state());
    }
  };
  scheduler.initialize({{"a", "1 * * * *", give_another_list, 1min}});
  clock->advance(30s);
  const std::size_t first = policy == Reinitialize::reconcile ? 2 : 1;
  journal.wait_for(first);
  clock->advance(1h);
  journal.wait_for(first + 1);
  scheduler.stop();
  return journal.wait_for(first + 1);
}

TEST(I4, a_callback_is_refused_a_second_list_too) {
  EXPECT_EQ(lists_from_a_callback(Reinitialize::reject), Entries(2, "refused: running"));
}

TEST(I4, a_callback_may_give_a_second_list_where_they_are_reconciled) {
  EXPECT_THAT(lists_from_a_callback(Reinitialize::reconcile),
              testing::UnorderedElementsAre("taken", "b runs", "b runs"));
}

TEST(I6, stopping_and_starting_again_changes_nothing) {
  World world{"2025-03-03T10:00:30Z"};
  for (int i = 0; i < 3; ++i) {
    world.initialize({{"a", "5 * * * *"}});
    world.stop();
  }
  world.initialize({{"a", "5 * * * *"}});
  world.advance(10min);
  EXPECT_EQ(world.starts(), Starts{"10:05:00 a cron"});
}

TEST(I7, takes_an_empty_list) {
  World world{"2025-03-03T10:00:00Z"};
  world.initialize({});
  world.advance(24h);
  world.stop();
  EXPECT_EQ(world.starts(), Starts{});
}

}  // namespace
}  // namespace dutiful
