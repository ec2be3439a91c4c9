// Section T of the rules: time. Every zone is in every_zone/, every notation of TZ in
// time/zone_test.cc.

#include <gtest/gtest.h>

#include "conformance/scene.h"
#include "support/journal.h"
#include "support/with_variable.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

Scene in(const char* zone, const char* now, RepeatedMinutes repeated = RepeatedMinutes::both) {
  return Scene{now, {.repeated_minutes = repeated, .zone = Zone::load(zone)}};
}

TEST(T1, the_zone_is_the_hosts) {
  const WithVariable tz{"TZ", "Asia/Kolkata"};  // UTC+05:30
  Scene scene{"2025-03-03T10:00:30Z", {}};
  scene.initialize({{"a", "0 16 * * *"}});
  scene.advance(24h);
  EXPECT_EQ(scene.starts(), Starts{"10:30:00 a cron"});
}

TEST(T1, a_minute_starts_at_second_0_of_the_local_clock) {
  Scene scene{"2025-03-03T10:00:59.999Z"};
  scene.initialize({{"a", "1 * * * *"}});
  EXPECT_EQ(scene.starts(), Starts{});
  scene.advance(1ms);
  EXPECT_EQ(scene.starts(), Starts{"10:01:00 a cron"});
}

TEST(T2, a_pulse_is_an_instant) {
  // The same civil minute is a different instant in another zone. All bookkeeping uses instants.
  const auto cron = CronExpression::parse("0 9 * * *");
  const Instant from = at("2025-06-01T00:00:00Z");
  EXPECT_EQ(Calendar{Zone::load("Asia/Kolkata")}.next(cron, from), from + 3h + 30min);
  EXPECT_EQ(Calendar{Zone::load("Europe/Berlin")}.next(cron, from), from + 7h);
}

TEST(T3, a_minute_that_does_not_exist_has_no_pulse) {
  Scene scene = in("America/New_York", "2025-03-08T00:00:30-05:00");
  scene.initialize({{"a", "30 2 * * *"}});
  scene.advance(days{3});
  // The 8th, not the 9th, the 10th.
  EXPECT_EQ(scene.starts(), (Starts{"07:30:00 a cron", "06:30:00 a cron"}));
}

TEST(T4, a_minute_that_occurs_twice_pulses_twice) {
  Scene scene = in("America/New_York", "2025-11-02T00:00:30-04:00");
  scene.initialize({{"a", "30 1 * * *"}});
  scene.advance(12h);
  EXPECT_EQ(scene.starts(), (Starts{"05:30:00 a cron", "06:30:00 a cron"}));
}

TEST(T4, a_minute_that_occurs_twice_pulses_once_under_first_only) {
  Scene scene = in("America/New_York", "2025-11-02T00:00:30-04:00", RepeatedMinutes::first_only);
  scene.initialize({{"a", "30 1 * * *"}});
  scene.advance(12h);
  EXPECT_EQ(scene.starts(), Starts{"05:30:00 a cron"});
}

TEST(T5, daylight_saving_may_be_half_an_hour) {
  Scene scene = in("Australia/Lord_Howe", "2025-04-06T00:00:30+11:00");
  scene.initialize({{"a", "45 1 * * *"}});
  scene.advance(12h);
  EXPECT_EQ(scene.starts(), (Starts{"14:45:00 a cron", "15:15:00 a cron"}));
}

TEST(T5, a_zone_may_skip_a_day) {
  Scene scene = in("Pacific/Apia", "2011-12-29T00:00:30-10:00");
  scene.initialize({{"a", "0 12 * * *"}});
  scene.advance(days{3});
  // The 29th, 31st and 1st of the local calendar, 24 hours apart.
  EXPECT_EQ(scene.starts(), (Starts{"22:00:00 a cron", "22:00:00 a cron", "22:00:00 a cron"}));
  const auto on_the_30th = CronExpression::parse("0 12 30 12 *");
  const Calendar calendar{Zone::load("Pacific/Apia")};
  EXPECT_EQ(calendar.next(on_the_30th, at("2011-12-29T00:00:00-10:00")),
            at("2012-12-30T12:00:00+14:00"));
}

// T6 is in tasks_test.cc.

class T7 : public testing::Test {
 protected:
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:30:30Z"));
  Journal runs;
  Journal corrections;
  Scheduler scheduler{{.zone = Zone::utc(), .clock = clock, .events = [this](const Event& event) {
                         if (event.name == "ClockCorrected") corrections.add(to_json(event));
                       }}};

  void initialize() {
    scheduler.initialize(
        {{"a", "0,30 * * * *", [this](const RunInfo& run) { runs.add(run.key()); }, 1min}});
  }
  void start() {
    initialize();
    runs.wait_for(1);
  }
};

TEST_F(T7, a_clock_set_back_does_not_run_a_pulse_twice) {
  start();
  clock->set(at("2025-03-03T10:29:00Z"));
  clock->set(at("2025-03-03T10:30:10Z"));
  clock->set(at("2025-03-03T11:00:00Z"));
  EXPECT_EQ(runs.wait_for(2),
            (Entries{"a@2025-03-03T10:30:00.000Z", "a@2025-03-03T11:00:00.000Z"}));
  scheduler.stop();
  EXPECT_EQ(runs.size(), 2);
  EXPECT_EQ(corrections.size(), 0);
}

TEST_F(T7, a_correction_of_more_than_3_hours_is_reported_and_pulses_count_again) {
  start();
  clock->set(at("2025-03-03T05:29:00Z"));
  EXPECT_EQ(corrections.wait_for(1),
            Entries{R"({"time":"2025-03-03T05:29:00.000Z","level":"WARNING",)"
                    R"("event":"ClockCorrected","taskName":"a",)"
                    R"("persistedTime":"2025-03-03T10:30:30.000Z"})"});
  clock->set(at("2025-03-03T05:30:00Z"));
  EXPECT_EQ(runs.wait_for(2).back(), "a@2025-03-03T05:30:00.000Z~2");
}

// P8: 10:30 occurs twice, and each time the task has different work to do.
TEST_F(T7, a_pulse_that_counts_again_has_a_key_of_its_own) {
  start();
  clock->set(at("2025-03-03T05:29:00Z"));
  corrections.wait_for(1);
  std::size_t count = 1;
  for (const char* time :
       {"2025-03-03T10:00:00Z", "2025-03-03T10:30:00Z", "2025-03-03T11:00:00Z"}) {
    clock->set(at(time));
    runs.wait_for(++count);
    scheduler.stop();  // so that the run has ended
    initialize();
  }
  EXPECT_EQ(runs.wait_for(4),  // 05:30 is the first pulse missed at 10:00
            (Entries{"a@2025-03-03T10:30:00.000Z",
                     "a@2025-03-03T05:30:00.000Z~2",
                     "a@2025-03-03T10:30:00.000Z~3",
                     "a@2025-03-03T11:00:00.000Z"}));
}

TEST_F(T7, a_clock_set_forward_behaves_like_downtime) {
  start();
  clock->set(at("2025-03-05T12:10:00Z"));
  EXPECT_EQ(runs.wait_for(2).back(), "a@2025-03-03T11:00:00.000Z");
  scheduler.stop();
  EXPECT_EQ(runs.size(), 2);
}

}  // namespace
}  // namespace dutiful
