#include "account/civil_day.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

CivilDay day(const char* zone, const char* instant) {
  return civil_day(Zone::load(zone), at(instant));
}

TEST(CivilDay, begins_at_midnight) {
  const CivilDay berlin = day("Europe/Berlin", "2025-01-10T12:00:00Z");
  EXPECT_EQ(berlin.begin, at("2025-01-09T23:00:00Z"));
  EXPECT_EQ(berlin.end, at("2025-01-10T23:00:00Z"));
}

TEST(CivilDay, contains_its_first_instant_and_not_its_last) {
  EXPECT_EQ(day("UTC", "2025-01-10T00:00:00Z").begin, at("2025-01-10T00:00:00Z"));
  EXPECT_EQ(day("UTC", "2025-01-09T23:59:59.999Z").end, at("2025-01-10T00:00:00Z"));
}

TEST(CivilDay, is_shorter_or_longer_when_the_clocks_change) {
  const CivilDay spring = day("America/New_York", "2025-03-09T12:00:00Z");
  EXPECT_EQ(spring.end - spring.begin, 23h);
  const CivilDay autumn = day("America/New_York", "2025-11-02T12:00:00Z");
  EXPECT_EQ(autumn.end - autumn.begin, 25h);
}

// The clocks of Beirut jump from 00:00 to 01:00.
TEST(CivilDay, begins_with_the_jump_if_its_midnight_is_skipped) {
  EXPECT_EQ(day("Asia/Beirut", "2022-03-27T12:00:00Z").begin, at("2022-03-26T22:00:00Z"));
}

// Until 2011 the clocks of St. John's went from 00:01 back to 23:01.
TEST(CivilDay, does_not_begin_twice) {
  std::optional<Instant> end;
  const Zone zone = Zone::load("America/St_Johns");
  for (Instant instant = at("2010-11-06T00:00:00Z"); instant < at("2010-11-09T00:00:00Z");
       instant += 1min) {
    const CivilDay day = civil_day(zone, instant);
    ASSERT_TRUE(day.contains(instant)) << instant.time_since_epoch().count();
    ASSERT_TRUE(!end || day.end == *end || day.begin == *end);  // days follow each other
    end = day.end;
  }
}

}  // namespace
}  // namespace dutiful
