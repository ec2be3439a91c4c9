#include "time/iso8601.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;
using std::chrono::sys_days;

TEST(Iso8601, reads_every_notation_of_an_offset) {
  const Instant expected = sys_days{2025y / 11 / 2} + 5h + 30min;
  EXPECT_EQ(at("2025-11-02T05:30:00Z"), expected);
  EXPECT_EQ(at("2025-11-02t05:30:00z"), expected);
  EXPECT_EQ(at("2025-11-02T01:30:00-04:00"), expected);
  EXPECT_EQ(at("2025-11-02T01:30:00-0400"), expected);
  EXPECT_EQ(at("2025-11-02T01:30:00-04"), expected);
  EXPECT_EQ(at("2025-11-02 01:30-04:00"), expected);
  EXPECT_EQ(at("2025-11-02T00:33:58-04:56:02"), expected);
  EXPECT_EQ(at("2025-11-02T19:30:00+14:00"), expected);
}

TEST(Iso8601, drops_digits_below_a_millisecond) {
  EXPECT_EQ(at("2025-11-02T05:30:00.5Z"), at("2025-11-02T05:30:00Z") + 500ms);
  EXPECT_EQ(at("2025-11-02T05:30:00,25Z"), at("2025-11-02T05:30:00Z") + 250ms);
  EXPECT_EQ(at("2025-11-02T05:30:59.9999999Z"), at("2025-11-02T05:30:59Z") + 999ms);
}

TEST(Iso8601, leaves_the_offset_of_a_local_time_open) {
  const auto parsed = parse_timestamp("2025-11-02T01:30:07");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->local, local_days{2025y / 11 / 2} + 1h + 30min + 7s);
  EXPECT_FALSE(parsed->offset);
}

TEST(Iso8601, rejects_malformed_times) {
  for (const char* text : {"",
                           "now",
                           "2025-11-02",
                           "2025-11-02T",
                           "2025-11-02T01",
                           "2025-11-02T24:00:00Z",
                           "2025-11-02T01:60:00Z",
                           "2025-11-02T01:30:60Z",
                           "2025-11-02T01:30:00.Z",
                           "2025-11-02T01:30:00+25:00",
                           "2025-11-02T01:30:00+1:00",
                           "2025-11-02T01:30:00 Z",
                           "2025-11-02T01:30:00Zz",
                           "2025-13-02T01:30:00Z",
                           "2025-00-02T01:30:00Z",
                           "2025-02-29T01:30:00Z",
                           "2025-11-00T01:30:00Z",
                           "0000-01-01T00:00:00Z",
                           "25-11-02T01:30:00Z",
                           "+2025-11-02T01:30:00Z",
                           "12025-11-02T01:30:00Z"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(Iso8601, prints_the_seconds_of_an_offset) {
  const Instant instant = at("2025-11-02T05:30:00Z");
  EXPECT_EQ(format_second(instant, -4h), "2025-11-02T01:30:00-04:00");
  EXPECT_EQ(format_second(instant, 0s), "2025-11-02T05:30:00+00:00");
  EXPECT_EQ(format_second(instant, 5h + 45min), "2025-11-02T11:15:00+05:45");
  EXPECT_EQ(format_second(instant, -(4h + 56min + 2s)), "2025-11-02T00:33:58-04:56:02");
  EXPECT_EQ(format_second(instant, -30min), "2025-11-02T05:00:00-00:30");
}

TEST(Iso8601, prints_what_it_reads) {
  for (const char* text : {"0001-01-01T00:00:00.000Z",
                           "1969-12-31T23:59:59.999Z",
                           "1970-01-01T00:00:00.000Z",
                           "2024-02-29T12:34:56.789Z",
                           "9999-12-31T23:59:59.999Z"}) {
    EXPECT_EQ(format_utc(at(text)), text);
  }
  EXPECT_EQ(format_minute(civil("2025-03-09T02:30")), "2025-03-09T02:30");
}

TEST(Iso8601, prints_years_that_it_does_not_read) {
  EXPECT_EQ(format_utc(at("9999-12-31T23:59:59.999Z") + 1ms), "10000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(at("0001-01-01T00:00:00.000Z") - 1ms), "0000-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace dutiful
