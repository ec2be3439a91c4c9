#include "daemon/history_trouble.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;

constexpr HistoryTrouble::Time begin{};

TEST(HistoryTrouble, is_told_once_for_each_reason) {
  HistoryTrouble trouble;
  EXPECT_TRUE(trouble.is_news("full", 0, begin));
  trouble.tell("full", begin);
  EXPECT_FALSE(trouble.is_news("full", 0, begin + 1h));
  EXPECT_TRUE(trouble.is_news("locked", 0, begin + 1h));
}

TEST(HistoryTrouble, is_told_again_if_runs_are_lost_but_not_twice_in_a_minute) {
  HistoryTrouble trouble;
  trouble.tell("full", begin);
  EXPECT_FALSE(trouble.is_news("full", 5, begin + 59s));
  EXPECT_FALSE(trouble.is_news("locked", 0, begin + 59s));
  EXPECT_TRUE(trouble.is_news("full", 5, begin + 1min));
}

TEST(HistoryTrouble, that_comes_and_goes_is_told_once_a_minute) {
  HistoryTrouble trouble;
  int told = 0;
  for (auto now = begin; now < begin + 10min; now += 100ms) {
    if (trouble.is_news("too many open files", 0, now)) {
      trouble.tell("too many open files", now);
      ++told;
    }
    if (trouble.end(0)) ++told;
  }
  EXPECT_EQ(told, 20);  // a failure and its end, each minute
}

TEST(HistoryTrouble, that_was_not_told_ends_without_a_word_unless_runs_were_lost) {
  HistoryTrouble trouble;
  EXPECT_FALSE(trouble.end(0));
  EXPECT_TRUE(trouble.end(3));
  trouble.tell("full", begin);
  EXPECT_TRUE(trouble.end(0));
  EXPECT_FALSE(trouble.end(0));
}

}  // namespace
}  // namespace dutiful
