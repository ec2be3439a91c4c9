// Section R of the rules: how late a start may be. Measured figures are in bench/.

#include <algorithm>

#include <gtest/gtest.h>

#include <dutiful/calendar.h>

#include "conformance/scene.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// Collects reports of late starts as "task delay-in-ms".
class Lateness {
 public:
  std::vector<std::string> reported;
  Options options{
      .max_concurrent = 1, .zone = Zone::utc(), .events = [this](const Event& event) {
        if (event.name != "SchedulingDelayed") return;
        EXPECT_EQ(event.level, Level::warning);
        reported.push_back(std::get<std::string>(event.fields.at(0).value) + ' ' +
                           std::to_string(std::get<std::int64_t>(event.fields.at(2).value)));
      }};
};

TEST(R1, a_due_task_starts_at_its_pulse) {
  Lateness late;
  Scene scene{"2025-03-03T09:59:30Z", late.options};
  scene.initialize({{"a", "0 10 * * *"}});
  scene.advance(1h);
  EXPECT_EQ(scene.starts(), Starts{"10:00:00 a cron"});
  EXPECT_EQ(late.reported, std::vector<std::string>{});
}

TEST(R1, a_start_more_than_a_minute_late_is_reported) {
  Lateness late;
  Scene scene{"2025-03-03T09:59:30Z", late.options};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0 10 * * *"}, {"b", "1 10 * * *"}, {"c", "2 10 * * *"}});
  // Only one task may run, and that is a. b and c wait, b for longer than the target.
  scene.advance_to("2025-03-03T10:02:30Z");
  scene.end("a");
  EXPECT_EQ(scene.starts(), (Starts{"10:00:00 a cron", "10:02:30 b cron", "10:02:30 c cron"}));
  EXPECT_EQ(late.reported, std::vector<std::string>{"b 90000"});
}

// A first run (K4) is measured from when the task was added.
TEST(R1, a_late_first_run_is_reported_too) {
  Lateness late;
  Scene scene{"2025-03-03T10:00:30Z", late.options};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0 10 * * *"}, {"b", "0 10 * * *"}});
  scene.advance(2min);
  scene.end("a");
  EXPECT_EQ(scene.starts(), (Starts{"10:00:30 a boot", "10:02:30 b boot"}));
  EXPECT_EQ(late.reported, std::vector<std::string>{"b 120000"});
}

// However long the downtime, everything starts at once, and every pulse is accounted for (T6, V).
TEST(R1, thousands_of_tasks_start_at_once_after_a_year_of_downtime) {
  constexpr int count = 2000;
  const Zone zone = Zone::load("America/New_York");
  std::map<std::string, std::int64_t> missed;
  Scene scene{"2025-03-03T10:00:30-05:00",
              {.zone = zone, .events = [&](const Event& event) {
                 if (event.name != "TaskRunStarted") return;
                 const auto field =
                     std::ranges::find(event.fields, "missedCount", &EventField::name);
                 missed[std::get<std::string>(event.fields.at(0).value)] =
                     field == event.fields.end() ? 0 : std::get<std::int64_t>(field->value);
               }}};
  std::vector<Scene::Task> list;
  for (int i = 0; i < count; ++i) list.push_back({"t" + std::to_string(i), "* * * * *"});
  scene.initialize(list);
  scene.stop();
  (void)scene.starts();
  missed.clear();
  scene.advance_to("2026-03-13T10:00:45-04:00");
  scene.initialize(list);

  const Starts starts = scene.starts();
  EXPECT_EQ(starts.size(), count);
  for (const std::string& start : starts) EXPECT_EQ(start.substr(0, 8), "14:00:45") << start;
  // scheduledTime names the first of them.
  const std::int64_t pulses = Calendar{zone}.count(CronExpression::parse("* * * * *"),
                                                   at("2025-03-03T10:00:30-05:00"),
                                                   at("2026-03-13T10:00:45-04:00"));
  EXPECT_EQ(missed.size(), count);
  for (const auto& [task, more] : missed) EXPECT_EQ(more, pulses - 1) << task;
}

TEST(R2, an_interrupted_run_starts_with_the_restart) {
  Lateness late;
  Scene scene{"2025-03-03T10:00:00Z", late.options};
  scene.script("a", {Does::keep_running});
  scene.initialize({{"a", "0 10 * * *"}});
  scene.crash();
  scene.advance(10min);
  (void)scene.starts();
  scene.initialize({{"a", "0 10 * * *"}});
  EXPECT_EQ(scene.starts(), Starts{"10:10:00 a orphan"});
  // The delay includes the downtime; the scheduler itself added nothing.
  EXPECT_EQ(late.reported, std::vector<std::string>{"a 600000"});
}

}  // namespace
}  // namespace dutiful
