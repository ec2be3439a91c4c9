#include "daemon/history_trouble.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;

constexpr HistoryTrouble::Time begin{};

TEST(HistoryTrouble, is_reported_once_for_each_reason) {
  HistoryTrouble trouble;
  EXPECT_TRUE(trouble.should_report("full", 0, begin));
  trouble.set_reported("full", begin);
  EXPECT_FALSE(trouble.should_report("full", 0, begin + 1h));
  EXPECT_TRUE(trouble.should_report("locked", 0, begin + 1h));
}

TEST(HistoryTrouble, is_reported_again_if_runs_are_lost_but_at_most_once_a_minute) {
  HistoryTrouble trouble;
  trouble.set_reported("full", begin);
  EXPECT_FALSE(trouble.should_report("full", 5, begin + 59s));
  EXPECT_FALSE(trouble.should_report("locked", 0, begin + 59s));
  EXPECT_TRUE(trouble.should_report("full", 5, begin + 1min));
}

TEST(HistoryTrouble, that_comes_and_goes_is_reported_once_a_minute) {
  HistoryTrouble trouble;
  int reports = 0;
  for (auto now = begin; now < begin + 10min; now += 100ms) {
    if (trouble.should_report("too many open files", 0, now)) {
      trouble.set_reported("too many open files", now);
      ++reports;
    }
    if (trouble.recover(0)) ++reports;
  }
  EXPECT_EQ(reports, 20);  // a failure and its end, each minute
}

TEST(HistoryTrouble, that_was_not_reported_ends_silently_unless_runs_were_lost) {
  HistoryTrouble trouble;
  EXPECT_FALSE(trouble.recover(0));
  EXPECT_TRUE(trouble.recover(3));
  trouble.set_reported("full", begin);
  EXPECT_TRUE(trouble.recover(0));
  EXPECT_FALSE(trouble.recover(0));
}

}  // namespace
}  // namespace dutiful
