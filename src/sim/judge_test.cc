#include "sim/judge.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const Instant noon = at("2025-03-03T12:00:00Z");
const InitStart every_minute{.registrations = {{"a", "* * * * *", 60s}}};

TEST(Judge, finds_a_run_that_was_not_owed) {
  Judge judge{Scenario{}};
  judge.on(noon + 1s, every_minute);
  judge.on(noon + 1s, InitSuccess{});
  judge.on(noon + 1s, RunStart{"a", "boot"});
  judge.on(noon + 2s, RunSuccess{"a"});
  EXPECT_TRUE(judge.violations().empty());

  judge.on(noon + 3s, RunStart{"a", "cron"});

  ASSERT_EQ(judge.violations().size(), 1);
  EXPECT_EQ(judge.violations().front().axiom, "S1");
  EXPECT_EQ(judge.violations().front().line, 6);  // the header is the first
  EXPECT_EQ(judge.runs(), 2);
}

TEST(Judge, finds_a_valid_list_that_was_rejected) {
  Judge judge{Scenario{}};
  judge.on(noon, every_minute);
  judge.on(noon, InitFailure{"SchedulerAlreadyActiveError"});
  ASSERT_FALSE(judge.violations().empty());
  EXPECT_EQ(judge.violations().front().axiom, "S5");
}

}  // namespace
}  // namespace dutiful
