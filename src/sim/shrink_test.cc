#include "sim/shrink.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/random_scenario.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

bool has(const Scenario& scenario, Step::Kind kind) {
  return std::ranges::any_of(scenario.steps, [=](const Step& step) { return step.kind == kind; });
}

bool registers(const Scenario& scenario, const std::string& name) {
  return std::ranges::any_of(scenario.steps, [&](const Step& step) {
    return std::ranges::any_of(step.registrations,
                               [&](const TaskConfig& task) { return task.name == name; });
  });
}

// A scenario in which something fails, to be shrunk.
Scenario eventful() {
  for (std::uint64_t seed = 0;; ++seed) {
    Scenario scenario = random_scenario(seed, 24h);
    if (has(scenario, Step::Kind::crash) && has(scenario, Step::Kind::freeze) &&
        scenario.steps.size() > 10 && !scenario.callbacks.empty()) {
      return scenario;
    }
  }
}

TEST(Shrink, keeps_only_what_is_needed_to_fail) {
  const Scenario scenario = eventful();
  const std::string name = scenario.steps.front().registrations.front().name;

  const Scenario smallest = shrink(scenario, [&](const Scenario& smaller) {
    return has(smaller, Step::Kind::crash) && registers(smaller, name);
  });

  ASSERT_EQ(smallest.steps.size(), 3);  // an initialize, the crash and the end
  EXPECT_TRUE(has(smallest, Step::Kind::crash));
  EXPECT_EQ(smallest.steps.back().kind, Step::Kind::end);
  EXPECT_TRUE(smallest.callbacks.empty());
  EXPECT_TRUE(registers(smallest, name));
  std::size_t tasks = 0;
  for (const Step& step : smallest.steps) tasks += step.registrations.size();
  EXPECT_EQ(tasks, 1);
}

TEST(Shrink, keeps_a_scenario_that_cannot_be_smaller) {
  const Scenario scenario = eventful();
  const std::string text = to_json(scenario);
  EXPECT_EQ(to_json(shrink(scenario, [&](const Scenario& s) { return to_json(s) == text; })), text);
}

}  // namespace
}  // namespace dutiful
