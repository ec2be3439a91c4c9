#include "daemon/uptime.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const Instant start = at("2025-03-03T10:00:00Z");

TEST(Uptime, lasts_as_long_as_it_is_seen) {
  UptimeFollower uptime{1min};
  EXPECT_FALSE(uptime.is_begun());
  uptime.begin(start);
  EXPECT_EQ(uptime.current(), (Uptime{start, start}));
  uptime.look(start + 1min);
  uptime.look(start + 2min);
  EXPECT_EQ(uptime.current(), (Uptime{start, start + 2min}));
  EXPECT_FALSE(uptime.ended());
}

TEST(Uptime, ends_if_the_host_was_asleep) {
  UptimeFollower uptime{1min};
  uptime.begin(start);
  uptime.look(start + 150s);
  EXPECT_FALSE(uptime.ended());
  uptime.look(start + 150s + 150s + 1ms);
  EXPECT_EQ(uptime.ended(), (Uptime{start, start + 150s}));
  EXPECT_EQ(uptime.current(), (Uptime{start + 300s + 1ms, start + 300s + 1ms}));
  uptime.forget_ended();
  EXPECT_FALSE(uptime.ended());
}

TEST(Uptime, does_not_end_while_an_idle_daemon_has_nothing_to_record) {
  UptimeFollower uptime{std::nullopt};
  uptime.begin(start);
  uptime.look(start + 48h);
  EXPECT_FALSE(uptime.ended());
  EXPECT_EQ(uptime.current(), (Uptime{start, start + 48h}));
}

TEST(Uptime, never_moves_backwards_if_the_clock_is_set_back) {
  for (const auto heartbeat : {std::optional<Duration>{1min}, std::optional<Duration>{}}) {
    UptimeFollower uptime{heartbeat};
    uptime.begin(start);
    uptime.look(start + 1min);
    uptime.look(start - 1min);  // a small correction
    EXPECT_EQ(uptime.current(), (Uptime{start, start + 1min}));
    uptime.look(start - 24h);
    EXPECT_EQ(uptime.ended(), (Uptime{start, start + 1min}));
    EXPECT_EQ(uptime.current(), (Uptime{start - 24h, start - 24h}));
    uptime.look(start - 24h + 1min);
    EXPECT_EQ(uptime.current(), (Uptime{start - 24h, start - 24h + 1min}));
  }
}

TEST(Uptime, is_within_the_years_that_a_history_can_record) {
  UptimeFollower uptime{1min};
  uptime.begin(Instant::min());
  EXPECT_EQ(uptime.current()->started, clock_begin);
  uptime.look(Instant::max());
  EXPECT_EQ(uptime.current()->seen, clock_end);
}

}  // namespace
}  // namespace dutiful
