#include "daemon/local_time.h"

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

TEST(LocalTime, is_the_time_in_the_zone) {
  EXPECT_EQ(local_text(at("2026-07-01T10:00:00.999Z"), Zone::load("Europe/Berlin")),
            "2026-07-01 12:00:00");
  EXPECT_EQ(local_text(at("2026-01-01T00:00:00Z"), Zone::utc()), "2026-01-01 00:00:00");
}

TEST(LocalTime, carries_its_offset_if_it_is_repeated) {
  const Zone berlin = Zone::load("Europe/Berlin");
  EXPECT_EQ(local_text(at("2026-10-24T23:59:59.999Z"), berlin), "2026-10-25 01:59:59");
  EXPECT_EQ(local_text(at("2026-10-25T00:00:00Z"), berlin), "2026-10-25 02:00:00 +02:00");
  EXPECT_EQ(local_text(at("2026-10-25T00:59:59.999Z"), berlin), "2026-10-25 02:59:59 +02:00");
  EXPECT_EQ(local_text(at("2026-10-25T01:00:00Z"), berlin), "2026-10-25 02:00:00 +01:00");
  EXPECT_EQ(local_text(at("2026-10-25T01:59:59.999Z"), berlin), "2026-10-25 02:59:59 +01:00");
  EXPECT_EQ(local_text(at("2026-10-25T02:00:00Z"), berlin), "2026-10-25 03:00:00");
}

TEST(LocalTime, carries_no_offset_around_a_gap) {
  const Zone berlin = Zone::load("Europe/Berlin");
  EXPECT_EQ(local_text(at("2026-03-29T00:59:59Z"), berlin), "2026-03-29 01:59:59");
  EXPECT_EQ(local_text(at("2026-03-29T01:00:00Z"), berlin), "2026-03-29 03:00:00");
}

TEST(LocalTime, may_repeat_half_an_hour) {
  const Zone island = Zone::load("Australia/Lord_Howe");
  EXPECT_EQ(local_text(at("2026-04-04T14:45:00Z"), island), "2026-04-05 01:45:00 +11:00");
  EXPECT_EQ(local_text(at("2026-04-04T15:15:00Z"), island), "2026-04-05 01:45:00 +10:30");
}

}  // namespace
}  // namespace dutiful
