// The accounts in random worlds, against a walk over every pulse that sees only the trace.

#include <map>
#include <optional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/judge.h"
#include "sim/play.h"
#include "sim/random_scenario.h"
#include "text/quote.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// What a trace says about the pulses of each task.
class Auditor : public TraceSink {
 public:
  struct Task {
    CronExpression cron;
    Instant from;          // the account begins here
    Instant served_until;  // pulses up to here are served
    std::int64_t served = 0;
    std::int64_t runs = 0;
    std::int64_t pre_empted = 0;  // pulses that a retry or an orphan start took
    bool boot_pending = false;
  };

  explicit Auditor(const Scenario& scenario)
      : calendar_(scenario.zone, scenario.policies.repeated_minutes),
        resets_(scenario.policies.override == Override::reset_history) {}

  void on(Instant at, const TraceEvent& event) override {
    if (const auto* init = std::get_if<InitStart>(&event)) list_ = init->registrations;
    if (std::holds_alternative<InitSuccess>(event)) replace(at);
    if (const auto* start = std::get_if<RunStart>(&event)) serve(tasks.at(start->task), *start, at);
  }

  std::map<std::string, Task> tasks;

 private:
  // How many pulses there are in (after, until], one after the other.
  [[nodiscard]] std::int64_t walk(const CronExpression& cron, Instant after, Instant until) const {
    std::int64_t pulses = 0;
    for (auto pulse = calendar_.find_next(cron, after); pulse && *pulse <= until;
         pulse = calendar_.find_next(cron, *pulse)) {
      ++pulses;
    }
    return pulses;
  }

  void replace(Instant at) {
    std::map<std::string, Task> tasks_before = std::exchange(tasks, {});
    std::map<std::string, TracedRegistration> before = std::exchange(registered_, {});
    for (const TracedRegistration& task : list_) {
      const auto cron = CronExpression::parse(task.cron);
      const auto known = before.find(task.name);
      const bool same = known != before.end() && known->second.cron == task.cron &&
                        known->second.retry_delay == task.retry_delay;
      registered_.emplace(task.name, task);
      if (known != before.end() && (same || !resets_)) {
        tasks.emplace(task.name, tasks_before.at(task.name)).first->second.cron = cron;
        continue;
      }
      // A new task is owed the pulse of this minute.
      const Instant minute = calendar_.find_previous(cron, at).value_or(Instant::min());
      const bool boot = minute + 1min > at && walk(cron, at - 1min, at) > 0;
      tasks.emplace(
          task.name,
          Task{.cron = cron, .from = boot ? minute : at, .served_until = at, .boot_pending = boot});
    }
  }

  void serve(Task& task, const RunStart& start, Instant at) {
    const std::int64_t pulses = walk(task.cron, task.served_until, at);
    task.served += pulses;
    if (start.reason == "boot") ++task.served;
    if (start.reason == "cron" || start.reason == "boot") ++task.runs;
    if ((start.reason == "retry" || start.reason == "orphan") && pulses > 0) ++task.pre_empted;
    task.served_until = std::max(task.served_until, at);
  }

  Calendar calendar_;
  bool resets_;
  std::vector<TracedRegistration> list_;
  std::map<std::string, TracedRegistration> registered_;
};

// Which fates were seen at all.
using Seen = std::set<std::string>;

void audit(const Scenario& scenario, Seen& seen) {
  Auditor auditor{scenario};
  const auto state = play(scenario, auditor);
  ASSERT_EQ(state->rows.size(), auditor.tasks.size());
  for (const MemoryState::Row& row : state->rows) {
    SCOPED_TRACE(quote(row.config.name));
    const Auditor::Task& task = auditor.tasks.at(row.config.name);
    PulseFates sum = row.account.fates;
    Instant from = task.from;
    std::int64_t number = 0;
    for (const auto& [key, stretch] : row.stretches) {
      EXPECT_EQ(stretch.sums.number, number++);
      EXPECT_EQ(stretch.sums.from, from);
      EXPECT_LT(stretch.sums.from, stretch.until);
      sum += stretch.sums.fates;
      from = stretch.until;
    }
    EXPECT_EQ(row.account.number, number);
    EXPECT_EQ(row.account.from, from);
    EXPECT_EQ(row.account.recurred, 0);
    EXPECT_EQ(sum.total(), task.served);
    EXPECT_EQ(sum.run, task.runs);
    // A trace that a crash cut short may confuse these two.
    EXPECT_EQ(sum.retry + sum.orphan, task.pre_empted);
    PulseFates::for_each(sum, [&](const char* fate, std::int64_t pulses) {
      if (pulses > 0) seen.insert(fate);
    });
  }
}

// Every pulse has one fate, through crashes, freezes, limits, failing stores and reloads.
TEST(Accounts, add_up_in_random_worlds) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < 600 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    audit(random_scenario(seed, 36h), seen);
  }
  // All but `store`: no store here fails for more than a minute.
  EXPECT_THAT(seen,
              testing::ElementsAre("asleep", "down", "limit", "orphan", "retry", "run", "running"));
}

TEST(Accounts, add_up_over_years) {
  Seen seen;
  for (std::uint64_t seed = 1000; seed < 1010 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    audit(random_scenario(seed, 24h * 365), seen);
  }
}

}  // namespace
}  // namespace dutiful
