#include "engine/store_retry.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Waiting = StoreRetry::Waiting;

const Instant begin = at("2025-03-03T10:00:00Z");

// The delays between tries that all fail, each made when it is due.
std::vector<Duration> delays(StoreRetry& retry, Waiting waiting, int tries, Instant now = begin) {
  std::vector<Duration> delays;
  for (int i = 0; i < tries; ++i) {
    retry.fail(waiting, now);
    delays.push_back(retry.at() - now);
    now = retry.at();
  }
  return delays;
}

TEST(StoreRetry, tries_at_any_time_before_a_failure_and_after_a_success) {
  StoreRetry retry;
  EXPECT_EQ(retry.at(), no_instant);
  EXPECT_FALSE(retry.must_wait(begin));
  retry.fail(Waiting::nothing, begin);
  EXPECT_TRUE(retry.must_wait(begin));
  retry.reset();
  EXPECT_EQ(retry.at(), no_instant);
  EXPECT_FALSE(retry.must_wait(begin));
}

// X3
TEST(StoreRetry, doubles_the_delay_up_to_half_a_minute) {
  StoreRetry retry;
  EXPECT_EQ(delays(retry, Waiting::nothing, 11),
            (std::vector<Duration>{
                100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30s, 30s}));
}

TEST(StoreRetry, waits_a_second_at_most_while_a_stop_waits) {
  StoreRetry retry;
  EXPECT_EQ(delays(retry, Waiting::stop_with_runs, 6),
            (std::vector<Duration>{100ms, 200ms, 400ms, 800ms, 1s, 1s}));
}

TEST(StoreRetry, must_wait_until_the_instant_of_the_next_try) {
  StoreRetry retry;
  retry.fail(Waiting::nothing, begin);
  EXPECT_TRUE(retry.must_wait(begin + 99ms));
  EXPECT_FALSE(retry.must_wait(begin + 100ms));
}

// T7: otherwise a clock that is set back by hours would keep the store waiting for hours.
TEST(StoreRetry, does_not_wait_by_a_clock_that_has_been_set_back) {
  StoreRetry retry;
  retry.fail(Waiting::nothing, begin);
  EXPECT_FALSE(retry.must_wait(begin - 1ms));
}

TEST(StoreRetry, tries_at_once_when_a_stop_begins) {
  StoreRetry retry;
  (void)delays(retry, Waiting::nothing, 10);
  retry.hurry();
  EXPECT_FALSE(retry.must_wait(begin));
  retry.fail(Waiting::stop_with_runs, begin);
  EXPECT_EQ(retry.at(), begin + 100ms);
}

// I5
TEST(StoreRetry, gives_a_stop_up_after_five_tries) {
  StoreRetry retry;
  (void)delays(retry, Waiting::stop, 4);
  EXPECT_FALSE(retry.gives_up_stop());
  retry.fail(Waiting::stop, retry.at());
  EXPECT_TRUE(retry.gives_up_stop());
}

// I5: each try may take the seconds that SQLite waits for a lock.
TEST(StoreRetry, gives_a_stop_up_after_four_seconds) {
  StoreRetry retry;
  retry.fail(Waiting::stop, begin);
  retry.fail(Waiting::stop, begin + 3999ms);
  EXPECT_FALSE(retry.gives_up_stop());
  retry.fail(Waiting::stop, begin + 4s);
  EXPECT_TRUE(retry.gives_up_stop());
}

TEST(StoreRetry, counts_no_try_before_the_last_run_has_ended) {
  StoreRetry retry;
  (void)delays(retry, Waiting::stop_with_runs, 20);
  EXPECT_FALSE(retry.gives_up_stop());
  retry.fail(Waiting::stop, retry.at());
  EXPECT_FALSE(retry.gives_up_stop());
}

}  // namespace
}  // namespace dutiful
