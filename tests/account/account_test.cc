// The parts of an account add up to Calendar::count, as an operator reads them, whatever happens.

#include <map>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "daemon/account_report.h"
#include "engine/engine.h"
#include "sim/play.h"
#include "sim/random_scenario.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/temporary_directory.h"
#include "support/times.h"
#include "trace/event.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

struct NoTrace : TraceSink {
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
};

// The tasks whose accounts go through a change of their schedule.
std::set<std::string> changed_tasks(const Scenario& scenario) {
  std::set<std::string> changed;
  if (scenario.policies.override == Override::reset_history) return changed;
  std::map<std::string, std::string> crons;
  for (const Step& step : scenario.steps) {
    for (const TaskConfig& task : step.registrations) {
      const auto [known, is_new] = crons.emplace(task.name, task.cron);
      if (!is_new && known->second != task.cron) changed.insert(task.name);
    }
  }
  return changed;
}

TaskRecord record_of(const MemoryState::Row& row) {
  return {0, row.config, row.progress, {}, row.account};
}

std::vector<AccountStretch> ended_of(const MemoryState::Row& row) {
  std::vector<AccountStretch> ended;
  for (const auto& [number, stretch] : row.stretches) ended.push_back(stretch);
  return ended;
}

// Crashes, freezes, limits, failing stores and reloads.
TEST(Account, adds_up_in_random_worlds_from_any_day_on) {
  std::int64_t days_left_out = 0;
  std::int64_t fates = 0;
  for (std::uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Scenario scenario = random_scenario(seed, seed % 10 == 0 ? 24h * 365 : 72h);
    const Calendar calendar{scenario.zone, scenario.policies.repeated_minutes};
    const auto changed = changed_tasks(scenario);
    const Instant begin = scenario.steps.front().at;
    const Instant end = scenario.steps.back().at;
    NoTrace no_trace;
    const auto state = play(scenario, no_trace);
    for (const MemoryState::Row& row : state->rows) {
      if (changed.contains(row.config.name)) continue;
      const TaskRecord record = record_of(row);
      const auto ended = ended_of(row);
      const TaskAccount all = account_of(record, ended, calendar, {}, end);
      EXPECT_EQ(all.sum(), all.pulses) << row.config.cron;
      EXPECT_TRUE(all.unknown == 0 || row.account.number > stretches_kept);
      fates += all.fates.total();
      for (int part = 0; part <= 8; ++part) {
        const AccountQuery query{.since = begin + part * (end - begin) / 8, .with_stretches = true};
        const TaskAccount account = account_of(record, ended, calendar, query, end);
        EXPECT_EQ(account.sum(), account.pulses) << row.config.cron;
        EXPECT_TRUE(account.from <= *query.since || account.from == all.from);
        if (account.stretches.size() <= ended.size()) ++days_left_out;
      }
    }
  }
  EXPECT_GT(days_left_out, 100);
  EXPECT_GT(fates, 50'000);
}

enum class Place { memory, file };

// A scheduler with a state, and with a clock that anyone may set.
class Trial {
 public:
  Trial(std::uint64_t seed, Place place)
      : random_(seed),
        place_(place),
        calendar_(Zone::load(choose({"UTC", "America/New_York", "Australia/Lord_Howe"}))) {
    policies_.override = one_in(2) ? Override::reset_history : Override::keep_history;
    policies_.reinitialize = Reinitialize::reconcile;
    for (const char* name : {"a", "b", "c"}) {
      tasks_.push_back({.name = name, .cron = a_cron(), .retry_delay = 1min});
    }
  }

  void play(int steps) {
    begin();
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE(step);
      act();
      if (one_in(3)) check();
    }
    check();
  }

  std::int64_t recurred = 0;  // as the checks have seen it
  std::int64_t owed = 0;

 private:
  template <typename Value>
  Value choose(std::initializer_list<Value> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
  }
  const char* choose(std::initializer_list<const char*> values) {
    return choose<const char*>(values);
  }
  bool one_in(unsigned number) { return random_() % number == 0; }
  Duration up_to(Duration longest) {
    return Duration{static_cast<std::int64_t>(random_() % longest.count())};
  }
  Duration any_time() {
    return one_in(4) ? up_to(30 * 24h) : one_in(2) ? up_to(30h) : up_to(10min);
  }
  const char* a_cron() {
    return choose({"* * * * *", "7,21 1-3 * * *", "30 2 * * *", "0 * * * *", "0 12 * * 1"});
  }

  [[nodiscard]] std::unique_ptr<Store> open() const {
    if (place_ == Place::file) return open_sqlite_store(state_);
    return std::make_unique<MemoryStore>(memory_);
  }
  [[nodiscard]] std::vector<TaskAccount> read(const AccountQuery& query) const {
    if (place_ == Place::file) return read_account(state_, calendar_, query, now_);
    std::vector<TaskAccount> accounts;
    for (const MemoryState::Row& row : memory_->rows) {
      accounts.push_back(account_of(record_of(row), ended_of(row), calendar_, query, now_));
    }
    return accounts;
  }

  void begin() {
    if (!engine_) {
      engine_ = std::make_unique<Engine>(
          calendar_, policies_, [this] { return open(); }, trace_);
      running_.clear();
    }
    engine_->initialize(tasks_, now_);
  }
  void step() {
    for (Start& start : engine_->step(engine_->follow(now_)).starts) {
      running_.push_back(std::move(start));
    }
  }
  void end_one() {
    if (running_.empty()) return;
    const std::size_t place = random_() % running_.size();
    const Outcome outcome = one_in(3) ? Outcome::failure : Outcome::success;
    engine_->end(running_[place].task, {outcome, {}, now_, {}}, now_);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
  }
  void act() {
    switch (random_() % 8) {
      case 0:  // killed, and started again later
        engine_.reset();
        now_ += any_time();
        if (one_in(3)) check();
        if (one_in(4)) now_ -= any_time();
        begin();
        break;
      case 1:
        now_ -= any_time();
        step();
        break;
      case 2: {  // another list; the same runs continue
        TaskConfig& task = tasks_[random_() % tasks_.size()];
        task.retry_delay += 1s;
        if (policies_.override == Override::reset_history) task.cron = a_cron();
        begin();
        break;
      }
      case 3:
      case 4:
        end_one();
        step();
        break;
      default:
        now_ += any_time();
        step();
        break;
    }
  }

  void check() {
    const AccountQuery query{.since = one_in(2) ? std::optional{now_ - any_time()} : std::nullopt};
    const auto accounts = read(query);
    ASSERT_EQ(accounts.size(), tasks_.size());
    for (const TaskAccount& account : accounts) {
      EXPECT_EQ(account.sum(), account.pulses) << account.name << ' ' << account.cron;
      recurred += account.recurred;
      owed += account.owed;
    }
  }

  std::mt19937_64 random_;
  Place place_;
  Calendar calendar_;
  Policies policies_;
  NoTrace trace_;
  std::vector<TaskConfig> tasks_;
  TemporaryDirectory directory_;
  std::string state_ = directory_.file("state.db");
  std::shared_ptr<MemoryState> memory_ = std::make_shared<MemoryState>();
  Instant now_ = at("2025-03-07T10:00:30Z");
  std::unique_ptr<Engine> engine_;
  std::vector<Start> running_;
};

void try_all(std::uint64_t seeds, Place place) {
  std::int64_t recurred = 0;
  std::int64_t owed = 0;
  for (std::uint64_t seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Trial trial{seed, place};
    trial.play(40);
    recurred += trial.recurred;
    owed += trial.owed;
  }
  EXPECT_GT(recurred, 0);
  EXPECT_GT(owed, 0);
}

// T7: also if the clock is set back.
TEST(Account, adds_up_whatever_the_clock_does) {
  try_all(400, Place::memory);
}

TEST(Account, adds_up_on_a_state_file) {
  try_all(4, Place::file);
}

}  // namespace
}  // namespace dutiful
