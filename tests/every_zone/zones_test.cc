// Every zone of the system's database and every transition from 2000 to 2100: within three hours of
// it, next, previous and count equal the results of a walk over all minutes, under both policies.
//
// Each run takes a sample, a smaller one under AddressSanitizer, and prints its size;
// DUTIFUL_TEST_ALL=1 takes all.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include <dutiful/calendar.h>

#include "support/pulse_walk.h"
#include "support/times.h"
#include "support/with_variable.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

constexpr const char* system_database = "/usr/share/zoneinfo";

// A sample tries one transition in this many. The release build looks for wrong answers; sanitizers
// look for faults of the code, which is the same for every transition.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t sample_interval = 97;
#else
constexpr std::size_t sample_interval = 10;
#endif

bool take_all() {
  const char* all = std::getenv("DUTIFUL_TEST_ALL");
  return all != nullptr && *all != '\0';
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// The names of all different zones. Links to one file count once.
std::vector<std::string> zone_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{system_database}) {
    const std::string name = std::filesystem::relative(entry.path(), system_database);
    // right/ counts leap seconds, and posix/ repeats everything.
    if (name.starts_with("right/") || name.starts_with("posix/")) continue;
    if (entry.is_regular_file() && bytes_of(entry.path()).starts_with("TZif"))
      names.push_back(name);
  }
  std::ranges::sort(names);
  std::set<std::string> seen;
  std::erase_if(names, [&](const std::string& name) {
    return !seen.insert(bytes_of(std::filesystem::path{system_database} / name)).second;
  });
  return names;
}

std::vector<Instant> transitions_of(absl::TimeZone zone) {
  std::vector<Instant> transitions;
  absl::Time from = to_absl(at("2000-01-01T00:00:00Z"));
  for (absl::TimeZone::CivilTransition transition; zone.NextTransition(from, &transition);) {
    from = zone.At(transition.to).trans;
    if (from_absl(from) >= at("2101-01-01T00:00:00Z")) break;
    transitions.push_back(from_absl(from));
  }
  return transitions;
}

// Dense and sparse expressions, including the hours around the transition.
std::vector<std::string> expressions_around(Instant transition, absl::TimeZone zone) {
  const auto before = zone.At(to_absl(transition - 1s)).cs;
  const auto after = zone.At(to_absl(transition)).cs;
  const std::string hour_before = std::to_string(before.hour());
  const std::string hour_after = std::to_string(after.hour());
  return {
      "* * * * *",
      "0,7,30,59 * * * *",
      "30 " + hour_before + " * * *",
      "0,15 " + hour_after + " * * *",
      "45 * " + std::to_string(after.day()) + " * " +
          std::to_string((std::chrono::weekday{std::chrono::floor<std::chrono::days>(transition)} +
                          std::chrono::days{1})
                             .c_encoding())};
}

// Returns the number of answers compared.
std::size_t compare_around(const std::string& name,
                           const Zone& zone,
                           absl::TimeZone twin,
                           Instant transition) {
  std::size_t compared = 0;
  for (const std::string& text : expressions_around(transition, twin)) {
    for (const RepeatedMinutes policy : {RepeatedMinutes::both, RepeatedMinutes::first_only}) {
      const Instant begin = transition - 6h;
      const Instant end = transition + 6h;
      const auto pulses = PulseWalk{text, twin, policy}.pulses(begin, end, 60s);
      const auto cron = CronExpression::parse(text);
      const Calendar calendar{zone, policy};
      for (Instant from = transition - 3h; from <= transition + 3h; from += 30s) {
        const auto after = std::ranges::upper_bound(pulses, from);
        const auto next = calendar.find_next(cron, from);
        const auto previous = calendar.find_previous(cron, from);
        const bool next_right = after != pulses.end() ? next == *after : next && *next > end;
        const bool previous_right =
            after != pulses.begin() ? previous == *(after - 1) : previous && *previous < begin;
        const bool count_right =
            calendar.count(cron, begin - 1ms, from) == after - pulses.begin() &&
            calendar.count(cron, from, end) == pulses.end() - after;
        const char* const wrong = !next_right       ? "next"
                                  : !previous_right ? "prev"
                                  : !count_right    ? "count"
                                                    : nullptr;
        if (wrong != nullptr) {
          ADD_FAILURE() << wrong << " '" << text << "' --zone " << name << " --from "
                        << format_utc(from) << " --repeated "
                        << (policy == RepeatedMinutes::both ? "both" : "first_only");
          return compared;
        }
        compared += 4;
      }
    }
  }
  return compared;
}

TEST(EveryZone, agrees_with_the_minute_walk_around_every_transition) {
  const WithVariable tzdir{"TZDIR", system_database};
  const auto names = zone_names();
  ASSERT_GT(names.size(), 300) << "the package tzdata is missing";

  std::size_t seen = 0;
  std::size_t tried = 0;
  std::size_t compared = 0;
  for (const std::string& name : names) {
    const Zone zone = Zone::load(name);
    const absl::TimeZone twin = absl_zone(name);
    for (const Instant transition : transitions_of(twin)) {
      if (seen++ % sample_interval != 0 && !take_all()) continue;
      ++tried;
      compared += compare_around(name, zone, twin, transition);
    }
  }
  std::cout << names.size() << " zones, " << tried << " of " << seen << " transitions, " << compared
            << " answers compared\n";
  EXPECT_GT(seen, 10'000);
}

// The offsets themselves, even far from any transition: every zone, every week from 1850 to 2100.
TEST(EveryZone, has_the_right_offset_at_any_time) {
  const WithVariable tzdir{"TZDIR", system_database};
  for (const std::string& name : zone_names()) {
    const Zone zone = Zone::load(name);
    const absl::TimeZone twin = absl_zone(name);
    for (Instant instant = at("1850-01-01T00:00:00Z"); instant < at("2100-01-01T00:00:00Z");
         instant += std::chrono::days{7} + 1h) {
      ASSERT_EQ(zone.offset_at(instant).count(), twin.At(to_absl(instant)).offset)
          << name << ' ' << format_utc(instant);
    }
  }
}

}  // namespace
}  // namespace dutiful
