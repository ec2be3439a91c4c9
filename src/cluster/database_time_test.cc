#include "cluster/database_time.h"

#include <random>

#include <gtest/gtest.h>

namespace dutiful::cluster {
namespace {

using namespace std::chrono_literals;

BootTime at(Duration since_boot) {
  return BootTime{since_boot};
}
Instant shows(Duration since_epoch) {
  return Instant{since_epoch};
}

TEST(DatabaseTime, is_unknown_before_the_first_answer) {
  const DatabaseTime time;
  EXPECT_EQ(time.at(at(1s)), std::nullopt);
  EXPECT_EQ(time.when(shows(1s)), BootTime::max());
}

TEST(DatabaseTime, passes_with_the_boot_clock) {
  DatabaseTime time;
  time.sync(shows(1000s), at(10s), at(10s));
  EXPECT_EQ(time.at(at(10s)), shows(1000s));
  EXPECT_EQ(time.at(at(20s)), shows(1010s - 10ms));  // less what the clocks may drift
}

// N9: no pulse is early, however late an answer comes.
TEST(DatabaseTime, is_never_ahead_of_the_database) {
  std::mt19937_64 random{1};
  const auto up_to = [&](Duration most) {
    return Duration{
        static_cast<Duration::rep>(random() % static_cast<std::uint64_t>(most.count()))};
  };
  for (int drift_ppm = -500; drift_ppm <= 500; drift_ppm += 100) {
    DatabaseTime time;
    Duration database = 0s;  // true time, which the database shows
    const auto boot = [&](Duration passed) { return at(passed + passed * drift_ppm / 1'000'000); };
    for (int i = 0; i < 1000; ++i) {
      const Duration sent = database;
      const Duration shown = sent + up_to(500ms);
      database = shown + up_to(20s);
      time.sync(shows(shown), boot(sent), boot(database));
      const Duration later = database + up_to(20s);
      EXPECT_LE(*time.at(boot(later)), shows(later) + 1ms);
      database = later;
    }
  }
}

TEST(DatabaseTime, is_not_made_worse_by_an_answer_that_comes_late) {
  DatabaseTime time;
  time.sync(shows(1000s), at(10s), at(10s));
  time.sync(shows(1001s), at(11s), at(30s));  // the member stood still
  EXPECT_GE(*time.at(at(30s)), shows(1020s - 20ms));
}

TEST(DatabaseTime, follows_a_clock_that_is_set) {
  DatabaseTime time;
  time.sync(shows(1000s), at(10s), at(10s));
  time.sync(shows(500s), at(20s), at(20s + 5ms));
  EXPECT_EQ(time.at(at(20s + 5ms)), shows(500s));
  time.sync(shows(5000s), at(21s), at(21s));
  EXPECT_EQ(time.at(at(21s)), shows(5000s));
}

TEST(DatabaseTime, has_reached_an_instant_when_it_says) {
  DatabaseTime time;
  time.sync(shows(1000s), at(10s), at(10s));
  for (const Duration passed : {-5s, 0s, 1s, 59s, 3600s, 86400s}) {
    const BootTime when = time.when(shows(1000s + passed));
    EXPECT_GE(*time.at(when), shows(1000s + passed)) << passed.count();
    EXPECT_LE(*time.at(when), shows(1000s + passed + 200ms)) << passed.count();
  }
}

}  // namespace
}  // namespace dutiful::cluster
