// Section I of the rules: the scheduler's lifecycle. Threads are in runtime/scheduler_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/scene.h"
#include "support/journal.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(I3, reports_the_first_registration_that_is_wrong) {
  Scene scene{"2025-03-03T10:00:00Z"};
  EXPECT_THROW(scene.initialize({{"a", "* * * * *"}, {"b", "x"}, {"a", "* * * * *"}}),
               CronExpressionInvalidError);
  EXPECT_THROW(scene.initialize({{"a", "* * * * *"}, {"a", "* * * * *"}, {"b", "x"}}),
               ScheduleDuplicateTaskError);
  EXPECT_EQ(scene.starts(), Starts{});
}

// Within one registration: the name, a duplicate, the expression, the callback, the retry delay,
// the time limit.
TEST(I3, checks_a_registration_in_the_order_of_its_fields) {
  const std::string large(1025, '0');
  const Callback none{};
  const Callback work{[] {}};
  struct Row {
    Registration first;
    Registration second;
    const char* expected;  // the error, and the field of an InvalidRegistrationError
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
  Scene scene{"2025-03-03T10:00:30Z"};
  scene.initialize({{"a", "5 * * * *"}});
  EXPECT_THROW(scene.initialize({{"b", "* * * * *"}}), SchedulerAlreadyActiveError);
  scene.advance(1h);
  EXPECT_EQ(scene.starts(), Starts{"10:05:00 a cron"});
}

TEST(I4, reconciles_if_the_policy_says_so) {
  Scene scene{"2025-03-03T10:00:30Z",
              {.reinitialize = Reinitialize::reconcile, .zone = Zone::utc()}};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0 * * * *"}});
  EXPECT_EQ(scene.starts(), Starts{"10:00:30 a boot"});
  scene.initialize({{"b", "1 * * * *"}});
  scene.advance(1min);
  EXPECT_EQ(scene.starts(), Starts{"10:01:00 b cron"});
  // The run of a removed task continues. If the name is added again, it waits for that run.
  scene.initialize({{"a", "* * * * *"}});
  scene.advance(5min);
  EXPECT_EQ(scene.starts(), Starts{});
  scene.end("a");
  EXPECT_EQ(scene.starts().size(), 1);
}

// What happens if a task "a", due at 10:01 and 11:01, gives its scheduler another list.
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

TEST(I4, rejects_a_second_list_from_a_callback_too) {
  EXPECT_EQ(lists_from_a_callback(Reinitialize::reject), Entries(2, "refused: running"));
}

TEST(I4, accepts_a_second_list_from_a_callback_under_reconcile) {
  EXPECT_THAT(lists_from_a_callback(Reinitialize::reconcile),
              testing::UnorderedElementsAre("taken", "b runs", "b runs"));
}

TEST(I6, stopping_and_starting_again_changes_nothing) {
  Scene scene{"2025-03-03T10:00:30Z"};
  for (int i = 0; i < 3; ++i) {
    scene.initialize({{"a", "5 * * * *"}});
    scene.stop();
  }
  scene.initialize({{"a", "5 * * * *"}});
  scene.advance(10min);
  EXPECT_EQ(scene.starts(), Starts{"10:05:00 a cron"});
}

TEST(I7, accepts_an_empty_list) {
  Scene scene{"2025-03-03T10:00:00Z"};
  scene.initialize({});
  scene.advance(24h);
  scene.stop();
  EXPECT_EQ(scene.starts(), Starts{});
}

}  // namespace
}  // namespace dutiful
