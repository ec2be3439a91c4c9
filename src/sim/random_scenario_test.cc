#include "sim/random_scenario.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "sim/judge.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST(RandomScenario, is_the_same_for_the_same_seed) {
  EXPECT_EQ(to_json(random_scenario(7, 24h)), to_json(random_scenario(7, 24h)));
  EXPECT_NE(to_json(random_scenario(7, 24h)), to_json(random_scenario(8, 24h)));
}

// A violation is passed on as a file.
TEST(RandomScenario, can_be_written_and_read_back) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = to_json(random_scenario(seed, 24h));
    EXPECT_EQ(to_json(parse_scenario(text)), text) << seed;
  }
}

TEST(RandomScenario, has_every_step_every_policy_and_every_result) {
  std::set<Step::Kind> kinds;
  std::set<CrashIn> crashes;
  std::set<std::optional<Outcome>> results;
  std::set<RepeatedMinutes> repeated;
  std::set<Reinitialize> reinitialize;
  std::set<Override> override;
  std::set<std::size_t> at_once;
  std::set<std::string> zones;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Scenario scenario = random_scenario(seed, 24h);
    for (const Step& step : scenario.steps) {
      kinds.insert(step.kind);
      if (step.kind == Step::Kind::crash_in_commit) crashes.insert(step.crash_in);
    }
    for (const auto& [name, runs] : scenario.callbacks) {
      for (const ScriptedRun& run : runs) results.insert(run.result);
    }
    repeated.insert(scenario.policies.repeated_minutes);
    reinitialize.insert(scenario.policies.reinitialize);
    override.insert(scenario.policies.override);
    at_once.insert(scenario.policies.max_concurrent);
    zones.insert(scenario.zone.name());
  }
  EXPECT_EQ(kinds.size(), 8);
  EXPECT_EQ(crashes.size(), 2);
  EXPECT_EQ(results.size(), 3);
  EXPECT_EQ(repeated.size(), 2);
  EXPECT_EQ(reinitialize.size(), 2);
  EXPECT_EQ(override.size(), 2);
  EXPECT_GE(at_once.size(), 3);
  EXPECT_GE(zones.size(), 5);
}

}  // namespace
}  // namespace dutiful
