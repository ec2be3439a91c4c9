#include "time/tzif.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/timeline_check.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

std::string zone_file(const std::string& name) {
  std::ifstream file{DUTIFUL_TEST_DATA "/zoneinfo/" + name, std::ios::binary};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TzifContents contents_of(std::string_view bytes) {
  return std::get<TzifContents>(parse_tzif(bytes));
}
std::string fault_of(std::string_view bytes) {
  return std::get<std::string>(parse_tzif(bytes));
}

// The zone files in tests/data are in the compact form (`zic -b slim`): after 2007 there is only
// the rule.
TEST(Tzif, reads_the_compact_form) {
  const auto contents = contents_of(zone_file("America/New_York"));

  EXPECT_EQ(contents.initial, -(4h + 56min + 2s));
  EXPECT_EQ(contents.transitions.front().at, sys_days{1883y / 11 / 18} + 17h);
  EXPECT_EQ(contents.transitions.front().offset, -5h);
  EXPECT_LT(contents.transitions.back().at, sys_days{2008y / 1 / 1});
  ASSERT_TRUE(contents.rule && contents.rule->daylight);
  EXPECT_EQ(contents.rule->standard, -5h);
}

TEST(Tzif, reads_a_zone_that_never_changed) {
  const auto contents = contents_of(zone_file("UTC"));
  EXPECT_EQ(contents.initial, 0h);
  EXPECT_TRUE(contents.transitions.empty());
}

// Files from before 2005 have 32-bit times and no rule.
TEST(Tzif, reads_the_first_version) {
  std::string bytes = "TZif";
  bytes += std::string(16, '\0');
  const auto append = [&bytes](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  };
  for (const std::uint32_t count : {0U, 0U, 0U, 1U, 2U, 8U}) append(count);
  append(0xffffffff);  // one second before 1970
  bytes += '\1';
  append(3600);
  bytes += std::string("\0\0", 2);
  append(7200);
  bytes += std::string("\1\4", 2);
  bytes += std::string("CET\0CST\0", 8);

  const auto contents = contents_of(bytes);
  EXPECT_EQ(contents.initial, 1h);
  ASSERT_EQ(contents.transitions.size(), 1);
  EXPECT_EQ(contents.transitions[0].at.time_since_epoch(), -1s);
  EXPECT_EQ(contents.transitions[0].offset, 2h);
  EXPECT_FALSE(contents.rule);
}

TEST(Tzif, says_what_is_wrong_with_a_file) {
  const std::string good = zone_file("America/New_York");

  EXPECT_EQ(fault_of(""), "is not a TZif file");
  EXPECT_EQ(fault_of("#!/bin/sh\n" + std::string(100, ' ')), "is not a TZif file");
  EXPECT_EQ(fault_of(good.substr(0, good.size() / 2)), "is cut short");
  EXPECT_EQ(fault_of(good.substr(0, good.size() - 1)), "is cut short");
  EXPECT_EQ(fault_of(good.substr(0, good.size() - 2) + "x\n"),
            "is damaged: its rule \"EST5EDT,M3.2.0,M11.1.x\" is malformed");
}

// If there were more transitions than the timeline can number, the search would never end.
TEST(Tzif, rejects_a_file_with_too_many_transitions) {
  std::string bytes = "TZif";
  bytes += std::string(16, '\0');
  const auto append = [&bytes](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  };
  for (const std::uint32_t count : {0U, 0U, 0U, 70'000U, 2U, 4U}) append(count);
  for (std::uint32_t i = 0; i < 70'000; ++i) append(i);
  for (std::uint32_t i = 0; i < 70'000; ++i) bytes += static_cast<char>(i % 2);
  bytes += std::string(12 + 4, '\0');
  EXPECT_EQ(fault_of(bytes), "is damaged: it has too many transitions");
}

TEST(Tzif, rejects_files_that_count_leap_seconds) {
  std::string bytes = "TZif";
  bytes += std::string(16, '\0');
  for (const char count : {'\0', '\0', '\1', '\0', '\1', '\4'})
    bytes += std::string(3, '\0') + count;
  bytes += std::string(6, '\0') + std::string("UTC\0", 4) + std::string(8, '\0');
  EXPECT_EQ(fault_of(bytes), "counts leap seconds, which system clocks do not");
}

// Whatever the damage, a file is either rejected or read as a timeline without holes. The
// sanitizers watch too.
RC_GTEST_PROP(Tzif, survives_any_damage, ()) {
  static const std::string good = zone_file("America/New_York");
  std::string bytes = good.substr(0, *rc::gen::inRange<std::size_t>(0, 2 * good.size()));
  const auto hits = *rc::gen::container<std::vector<std::pair<std::size_t, char>>>(
      rc::gen::pair(rc::gen::inRange<std::size_t>(0, good.size()), rc::gen::arbitrary<char>()));
  for (const auto& [offset, value] : hits) {
    if (offset < bytes.size()) bytes[offset] = value;
  }
  auto parsed = parse_tzif(bytes);
  if (auto* contents = std::get_if<TzifContents>(&parsed)) {
    const Timeline timeline{contents->initial, std::move(contents->transitions), contents->rule};
    RC_ASSERT(fault_of_timeline(timeline) == "");
  }
}

}  // namespace
}  // namespace dutiful
