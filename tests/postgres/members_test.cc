// Real members on a real database, in real time, on a database clock that runs faster.

#include <algorithm>
#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "postgres/driven_member.h"
#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {
namespace {

using cluster::BootTime;
using std::chrono::milliseconds;
using std::chrono::seconds;

class RealMembers : public testing::Test {
 protected:
  static constexpr int tasks = 12;

  void begin(int count) {
    postgres::Options options = options_of(database);
    options.lease = seconds{2};
    // A minute lasts a second.
    options.clock = [] {
      constexpr Instant midnight = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1};
      return midnight + 60 * (boot_now().time_since_epoch() % std::chrono::hours{24});
    };
    std::vector<TaskConfig> list;
    for (int i = 0; i < tasks; ++i) {
      list.push_back({.name = "task " + std::to_string(10 + i), .cron = "* * * * *"});
    }
    for (int i = 0; i < count; ++i) {
      members.push_back(std::make_unique<DrivenMember>(
          options,
          "",
          cluster::MemberId{static_cast<std::uint64_t>(i + 1) << 60U},
          [this](const cluster::RunKey& run) { started(run); }));
      members.back()->initialize(list);
    }
  }

  // N5: on no other member does the task run now.
  void started(const cluster::RunKey& run) {
    for (const auto& member : members) EXPECT_FALSE(member->runs(run.task)) << run.task;
    ++starts[run.task];
  }

  // Drives all members but one until it is so. That one stands still, as if it were frozen.
  template <typename Condition>
  [[nodiscard]] bool drive_until(Condition condition, const DrivenMember* frozen = nullptr) {
    const BootTime give_up = boot_now() + seconds{60};
    while (!condition()) {
      if (boot_now() > give_up) return false;
      BootTime next = boot_now() + milliseconds{100};
      std::vector<pollfd> waiting;
      for (auto& member : members) {
        if (member.get() == frozen) continue;
        member->drive();
        next = std::min(next, member->next_wake());
        member->add_to(waiting);
      }
      const BootTime now = boot_now();
      const Duration timeout = now < next ? next - now : Duration{0};
      poll(waiting.data(), waiting.size(), static_cast<int>(timeout.count()));
    }
    return true;
  }

  // Every task has started once more.
  [[nodiscard]] bool drive_through_a_pulse(const DrivenMember* frozen = nullptr) {
    const auto before = starts;
    return drive_until(
        [&] {
          return starts.size() == tasks && std::ranges::all_of(starts, [&](const auto& task) {
                   const auto old = before.find(task.first);
                   return old == before.end() || task.second > old->second;
                 });
        },
        frozen);
  }

  std::string holders() {
    return owner.value("SELECT count(DISTINCT holder) FROM dutiful.shard WHERE holder <> 0");
  }

  const std::string database = PostgresServer::instance().make_database();
  PlainClient owner{PostgresServer::instance().address(database)};
  std::vector<std::unique_ptr<DrivenMember>> members;
  std::map<std::string, int> starts;
};

// N2, N7: they share the tasks, and a pulse is served once.
TEST_F(RealMembers, share_the_tasks_and_hand_them_over_when_they_stop) {
  begin(3);
  ASSERT_TRUE(drive_until([&] {
    return std::ranges::all_of(members, [](const auto& m) { return m->is_initialized(); });
  }));
  ASSERT_TRUE(drive_through_a_pulse());
  ASSERT_TRUE(drive_through_a_pulse());
  ASSERT_TRUE(drive_until([&] { return holders() == "3"; }));

  members[0]->stop();
  ASSERT_TRUE(drive_until([&] { return members[0]->is_stopped(); }));
  EXPECT_TRUE(members[0]->has_recorded_all());
  ASSERT_TRUE(drive_through_a_pulse());

  members[1]->stop();
  members[2]->stop();
  ASSERT_TRUE(drive_until([&] { return members[1]->is_stopped() && members[2]->is_stopped(); }));
  EXPECT_EQ(owner.value("SELECT count(*) FROM dutiful.member"), "0");
  // P8: each pulse has one run, which may have been interrupted and restarted.
  EXPECT_EQ(owner.value("SELECT count(*) FROM (SELECT task, pulse FROM dutiful.journal"
                        " WHERE started IS NOT NULL AND attempt = 1"
                        " GROUP BY task, pulse HAVING count(*) > 1) t"),
            "0");
  // The last ones to leave have posted the ends of their runs: nobody was left to record them.
  EXPECT_EQ(owner.value("SELECT count(*) FROM dutiful.journal WHERE started IS NOT NULL"),
            owner.value("SELECT (SELECT count(*) FROM dutiful.journal WHERE ended IS NOT NULL)"
                        " + (SELECT count(*) FROM dutiful.mail)"));
}

// N5, N6: a member that stands still for longer than its lease is replaced, and comes back.
TEST_F(RealMembers, replace_one_that_stands_still_and_take_it_back) {
  begin(2);
  ASSERT_TRUE(drive_through_a_pulse());

  ASSERT_TRUE(drive_until([&] { return owner.value("SELECT count(*) FROM dutiful.member") == "1"; },
                          members[0].get()));
  ASSERT_TRUE(drive_through_a_pulse(members[0].get()));

  ASSERT_TRUE(drive_until([&] { return holders() == "2"; }));
  ASSERT_TRUE(drive_through_a_pulse());
}

// N4, N10: broken connections cost time, and nothing else.
TEST_F(RealMembers, survive_broken_connections) {
  begin(2);
  ASSERT_TRUE(drive_through_a_pulse());
  std::mt19937 random{1};

  for (int i = 0; i < 12; ++i) {
    owner.run(
        "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity"
        " WHERE application_name = 'dutiful' AND datname = current_database()"
        " ORDER BY random() LIMIT 2) two");
    const BootTime until = boot_now() + milliseconds{random() % 400};
    ASSERT_TRUE(drive_until([&] { return boot_now() >= until; }));
  }

  ASSERT_TRUE(drive_through_a_pulse());
  ASSERT_TRUE(drive_through_a_pulse());
  EXPECT_EQ(owner.value("SELECT count(*) FROM (SELECT task, fence FROM dutiful.journal"
                        " WHERE started IS NOT NULL GROUP BY task, fence HAVING count(*) > 1) t"),
            "0");
}

}  // namespace
}  // namespace dutiful
