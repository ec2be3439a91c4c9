#include <ctime>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/zone.h>

#include "support/times.h"
#include "support/with_variable.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

std::string fault_of(const std::string& name) {
  try {
    (void)Zone::load(name);
    return "loaded";
  } catch (const ZoneError& error) {
    EXPECT_EQ(error.zone(), name);
    EXPECT_EQ(error.name(), "ZoneError");
    return error.what();
  }
}

TEST(Zone, keeps_the_offset_of_its_segment) {
  const Zone zone = Zone::load("America/New_York");
  EXPECT_EQ(zone.name(), "America/New_York");
  EXPECT_EQ(zone.offset_at(at("2025-03-09T06:59:59.999Z")), -5h);
  EXPECT_EQ(zone.offset_at(at("2025-03-09T07:00:00Z")), -4h);
  EXPECT_EQ(zone.offset_at(at("2025-11-02T05:59:59.999Z")), -4h);
  EXPECT_EQ(zone.offset_at(at("2025-11-02T06:00:00Z")), -5h);
  EXPECT_EQ(zone.offset_at(at("1800-01-01T00:00:00Z")), -(4h + 56min + 2s));
}

// T5: the rule applies for ever after the last transition in the file.
TEST(Zone, follows_its_rule_for_ever) {
  const Zone zone = Zone::load("America/New_York");
  for (const char* year : {"2038", "2100", "2408", "2409", "2808", "2809", "9999"}) {
    EXPECT_EQ(zone.offset_at(at(std::string{year} + "-07-01T00:00:00Z")), -4h) << year;
    EXPECT_EQ(zone.offset_at(at(std::string{year} + "-12-01T00:00:00Z")), -5h) << year;
  }
  EXPECT_EQ(zone.offset_at(Instant::max()), -5h);  // winter time
  EXPECT_EQ(zone.offset_at(Instant::min()), -(4h + 56min + 2s));
  EXPECT_EQ(Zone::utc().offset_at(Instant::max()), 0h);
}

TEST(Zone, lists_when_the_clocks_are_set) {
  const Zone zone = Zone::load("America/New_York");
  const Instant spring = at("2025-03-09T07:00:00Z");
  const Instant autumn = at("2025-11-02T06:00:00Z");
  EXPECT_THAT(zone.changes(at("2025-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z")),
              ElementsAre(Zone::Change{spring, -5h, -4h}, Zone::Change{autumn, -4h, -5h}));
  // The first instant is not included, the last one is.
  EXPECT_THAT(zone.changes(spring, autumn), ElementsAre(Zone::Change{autumn, -4h, -5h}));
  EXPECT_THAT(zone.changes(autumn, spring), IsEmpty());
  EXPECT_THAT(Zone::utc().changes(Instant::min(), Instant::max()), IsEmpty());
}

// The calendar repeats after 400 years, weekdays included.
TEST(Zone, repeats_itself_every_400_years) {
  constexpr std::chrono::days cycle{146097};
  for (const char* name : {"America/New_York", "Australia/Lord_Howe", "Europe/Dublin"}) {
    const Zone zone = Zone::load(name);
    for (Instant instant = at("2050-01-01T00:00:00Z"); instant < at("2060-01-01T00:00:00Z");
         instant += 61min) {
      ASSERT_EQ(zone.offset_at(instant), zone.offset_at(instant + cycle)) << name;
      ASSERT_EQ(zone.offset_at(instant), zone.offset_at(instant + 19 * cycle)) << name;
    }
  }
}

TEST(Zone, distinguishes_unique_skipped_and_repeated_times) {
  const Zone zone = Zone::load("America/New_York");
  const auto read = [&](const char* text) { return zone.read(timestamp(text).local); };

  EXPECT_EQ(std::get<Zone::Unique>(read("2025-03-09T01:59:59.999")).at,
            at("2025-03-09T06:59:59.999Z"));
  EXPECT_EQ(std::get<Zone::Skipped>(read("2025-03-09T02:00:00")).transition,
            at("2025-03-09T07:00:00Z"));
  EXPECT_EQ(std::get<Zone::Skipped>(read("2025-03-09T02:59:59.999")).transition,
            at("2025-03-09T07:00:00Z"));
  EXPECT_EQ(std::get<Zone::Unique>(read("2025-03-09T03:00:00")).at, at("2025-03-09T07:00:00Z"));

  EXPECT_EQ(std::get<Zone::Unique>(read("2025-11-02T00:59:59.999")).at,
            at("2025-11-02T04:59:59.999Z"));
  const auto repeated = std::get<Zone::Repeated>(read("2025-11-02T01:30:00"));
  EXPECT_EQ(repeated.first, at("2025-11-02T05:30:00Z"));
  EXPECT_EQ(repeated.second, at("2025-11-02T06:30:00Z"));
  EXPECT_EQ(std::get<Zone::Unique>(read("2025-11-02T02:00:00")).at, at("2025-11-02T07:00:00Z"));
}

// T5: Samoa moved across the date line.
TEST(Zone, may_skip_a_whole_day) {
  const Zone zone = Zone::load("Pacific/Apia");
  const auto reading = zone.read(timestamp("2011-12-30T12:00:00").local);
  EXPECT_EQ(std::get<Zone::Skipped>(reading).transition, at("2011-12-30T10:00:00Z"));
}

// A rule may go forward and back within the length of its jump. The minutes it jumped over then
// occur once.
TEST(Zone, finds_a_time_that_was_skipped_and_shown_later) {
  const Zone zone = Zone::load("XXX-2YYY-22,J350/-15,J350/17");
  const auto reading = zone.read(timestamp("2025-12-15T21:00:00").local);
  const auto* unique = std::get_if<Zone::Unique>(&reading);
  ASSERT_NE(unique, nullptr);
  EXPECT_EQ(unique->at + zone.offset_at(unique->at), at("2025-12-15T21:00:00Z"));
}

TEST(Zone, reads_times_at_the_ends_of_time) {
  const Zone zone = Zone::load("America/New_York");
  using Local = std::chrono::local_time<Duration>;
  EXPECT_TRUE(std::holds_alternative<Zone::Unique>(zone.read(Local::max())));
  EXPECT_TRUE(std::holds_alternative<Zone::Unique>(zone.read(Local::min())));
}

// T1: the zone is the one in TZ, as tzset(3) reads it.
TEST(Zone, reads_every_notation_of_tz) {
  EXPECT_EQ(Zone::load(":Europe/Berlin").offset_at(at("2025-07-01T00:00:00Z")), 2h);
  EXPECT_EQ(
      Zone::load(DUTIFUL_TEST_DATA "/zoneinfo/Europe/Berlin").offset_at(at("2025-07-01T00:00:00Z")),
      2h);
  const Zone rule = Zone::load("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(rule.offset_at(at("2025-07-01T00:00:00Z")), 2h);
  EXPECT_EQ(rule.offset_at(at("2025-12-01T00:00:00Z")), 1h);
  EXPECT_EQ(rule.offset_at(at("0001-07-01T00:00:00Z")), 2h);
  EXPECT_EQ(rule.offset_at(at("9999-07-01T00:00:00Z")), 2h);
  EXPECT_EQ(Zone::load("<+0330>-3:30").offset_at(Instant{}), 3h + 30min);
  EXPECT_EQ(Zone::load(":<+0330>-3:30").offset_at(Instant{}), 3h + 30min);
}

// RFC 8536: daylight time that ends and begins at the same instant never ends.
TEST(Zone, may_have_daylight_time_all_year) {
  const Zone zone = Zone::load("XXX3EDT4,0/0,J365/23");
  for (Instant instant = at("2025-12-25T00:00:00Z"); instant < at("2026-01-10T00:00:00Z");
       instant += 1h) {
    ASSERT_EQ(zone.offset_at(instant), -4h);
  }
}

TEST(Zone, may_have_daylight_time_that_changes_nothing) {
  const Zone zone = Zone::load("AAA3BBB3,J60,J300");
  EXPECT_EQ(zone.offset_at(at("2025-01-01T00:00:00Z")), -3h);
  EXPECT_EQ(zone.offset_at(at("9999-07-01T00:00:00Z")), -3h);
}

TEST(Zone, needs_no_database_for_utc) {
  const WithVariable nowhere{"TZDIR", "/nonexistent"};
  EXPECT_EQ(Zone::load("UTC").offset_at(Instant{}), 0h);
  EXPECT_EQ(Zone::load("UTC0").offset_at(Instant{}), 0h);
}

TEST(Zone, is_rejected_with_a_reason_and_a_remedy) {
  EXPECT_EQ(fault_of("Mars/Olympus"),
            "Cannot load time zone \"Mars/Olympus\": there is no such zone in \"" DUTIFUL_TEST_DATA
            "/zoneinfo\", nor is it a POSIX rule like CET-1CEST,M3.5.0,M10.5.0/3; "
            "`timedatectl list-timezones` shows the names");
  EXPECT_NE(fault_of("").find("not a zone name"), std::string::npos);
  EXPECT_NE(fault_of("America").find("no such zone"), std::string::npos);
  EXPECT_NE(fault_of("../next.jsonl").find("no such zone"), std::string::npos);
  EXPECT_NE(fault_of(std::string("UTC\0", 4)).find("\"UTC\\x00\": not a zone name"),
            std::string::npos);
  EXPECT_NE(fault_of("/nonexistent/zone").find("No such file or directory"), std::string::npos);
  EXPECT_NE(fault_of("/").find("is not a file"), std::string::npos);
  EXPECT_NE(fault_of(DUTIFUL_TEST_DATA "/next.jsonl").find("is not a TZif file"),
            std::string::npos);

  const WithVariable nowhere{"TZDIR", "/nonexistent"};
  EXPECT_NE(fault_of("Europe/Berlin").find("install the package tzdata"), std::string::npos);
}

TEST(Zone, of_the_host_comes_from_tz) {
  const Instant summer = at("2025-07-01T00:00:00Z");
  {
    const WithVariable tz{"TZ", "America/New_York"};
    EXPECT_EQ(Zone::host().offset_at(summer), -4h);
    EXPECT_EQ(Zone::host().name(), "America/New_York");
  }
  {
    const WithVariable tz{"TZ", ""};
    EXPECT_EQ(Zone::host().name(), "UTC");
  }
  {
    const WithVariable tz{"TZ", "Nowhere/City"};
    try {
      (void)Zone::host();
      FAIL() << "it was taken for another";  // such as UTC
    } catch (const ZoneError& error) {
      EXPECT_EQ(error.zone(), "Nowhere/City");
      EXPECT_TRUE(error.reason().ends_with("; it comes from the variable TZ")) << error.reason();
    }
  }
}

// Without TZ, the zone is the file that the system links, as for the C library.
TEST(Zone, of_the_host_comes_from_the_system_without_tz) {
  const WithVariable tz{"TZ", std::nullopt};
  const WithVariable tzdir{"TZDIR", std::nullopt};
  const bool exists = std::filesystem::exists("/etc/localtime");
  if (!exists) {
    EXPECT_THROW((void)Zone::host(), ZoneError);
    return;
  }
  tzset();
  for (const char* text : {"2025-01-15T00:00:00Z", "2025-07-15T00:00:00Z"}) {
    const std::time_t time = std::chrono::system_clock::to_time_t(at(text));
    std::tm local{};
    localtime_r(&time, &local);
    EXPECT_EQ(Zone::host().offset_at(at(text)).count(), local.tm_gmtoff) << text;
  }
}

}  // namespace
}  // namespace dutiful
