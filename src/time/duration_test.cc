#include "time/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::variant<Duration, DurationFault> ok(Duration value) {
  return value;
}
std::variant<Duration, DurationFault> fault(DurationFault value) {
  return value;
}

TEST(Durations, are_read_as_they_are_written) {
  EXPECT_EQ(parse_duration("0s"), ok(0s));
  EXPECT_EQ(parse_duration("250ms"), ok(250ms));
  EXPECT_EQ(parse_duration("30s"), ok(30s));
  EXPECT_EQ(parse_duration("5m"), ok(5min));
  EXPECT_EQ(parse_duration("1h30m"), ok(90min));
  EXPECT_EQ(parse_duration("1d"), ok(24h));
  EXPECT_EQ(parse_duration("1d2h3m4s5ms"), ok(26h + 3min + 4s + 5ms));
  EXPECT_EQ(parse_duration("90m"), ok(90min));
  EXPECT_EQ(parse_duration("007s"), ok(7s));
  EXPECT_EQ(parse_duration("36525d"), ok(duration_max));
}

// People who write systemd units write durations in this form.
TEST(Durations, are_read_in_the_spellings_of_systemd) {
  for (const char* text : {"90m",
                           "90min",
                           "90 min",
                           "90minute",
                           "90 minutes",
                           "1h30min",
                           "1h 30min",
                           "1hr30m",
                           "1 hour  30 minutes",
                           "1hour1800sec",
                           "1hours 1800second",
                           "5400seconds",
                           "5400000msec"}) {
    EXPECT_EQ(parse_duration(text), ok(90min)) << text;
  }
  EXPECT_EQ(parse_duration("1day"), ok(24h));
  EXPECT_EQ(parse_duration("2 days 1 s"), ok(48h + 1s));
}

TEST(Durations, are_written_in_the_shortest_form) {
  EXPECT_EQ(format_duration(0s), "0s");
  EXPECT_EQ(format_duration(90min), "1h30m");
  EXPECT_EQ(format_duration(24h + 5ms), "1d5ms");
}

TEST(Durations, are_malformed_in_any_other_form) {
  for (const char* text :
       {"",       "5",     "5 ",   "m",      " 5m",   "5m ", "1.5h",   "5M",     "30m1h",
        "1m1m",   "1h-5m", "+5m",  "--5m",   "-",     "-x",  "- 5m",   "1h30",   "5m\n",
        "1e3s",   "0x5s",  "٣s",   "1m1h",   "1d,2h", "5us", "1month", "1m1min", "5\tm",
        "1min1h", "5mins", "5Min", "1h and", "1 2h",  "1w",  "5 5",    "1h 30"}) {
    EXPECT_EQ(parse_duration(text), fault(DurationFault::malformed)) << text;
  }
}

TEST(Durations, that_are_negative_or_too_long_have_their_own_faults) {
  EXPECT_EQ(parse_duration("-5m"), fault(DurationFault::negative));
  EXPECT_EQ(parse_duration("-99999999999999999999d"), fault(DurationFault::negative));
  EXPECT_EQ(parse_duration("36525d1ms"), fault(DurationFault::too_long));
  EXPECT_EQ(parse_duration("106751991168d"), fault(DurationFault::too_long));
  EXPECT_EQ(parse_duration("9223372036854775807ms"), fault(DurationFault::too_long));
  EXPECT_EQ(parse_duration("99999999999999999999s1ms"), fault(DurationFault::too_long));
}

TEST(Durations, that_are_malformed_are_reported_with_a_remedy) {
  EXPECT_EQ(explain_fault("-5m", DurationFault::negative), "\"-5m\" is negative; write 0s or more");
  EXPECT_THAT(explain_fault("5\n", DurationFault::malformed), HasSubstr(R"("5\n" is not)"));
  EXPECT_THAT(explain_fault("5", DurationFault::malformed), HasSubstr("1h30m"));
  EXPECT_THAT(explain_fault("9d", DurationFault::too_long), HasSubstr("36525d"));
}

RC_GTEST_PROP(DurationProperty, any_length_can_be_written, ()) {
  const auto length = *rc::gen::inRange<std::int64_t>(0, duration_max.count() + 1);
  RC_ASSERT(parse_duration(std::to_string(length) + "ms") == ok(Duration{length}));
  const std::chrono::hh_mm_ss parts{Duration{length}};
  const std::string mixed = std::to_string(parts.hours().count()) + 'h' +
                            std::to_string(parts.minutes().count()) + 'm' +
                            std::to_string(parts.seconds().count()) + 's' +
                            std::to_string(parts.subseconds().count()) + "ms";
  RC_ASSERT(parse_duration(mixed) == ok(Duration{length}));
  RC_ASSERT(parse_duration(format_duration(Duration{length})) == ok(Duration{length}));
}

}  // namespace
}  // namespace dutiful
