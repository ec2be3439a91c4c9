// Compares the core, which has queues, with a twin that scans every task each time.

#include "core/core.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> crons{
    "* * * * *", "0,2,4,10-30 * * * *", "1,3,7,20-59 * * * *", "0 * * * *"};

// RULES K2, K6, X1, word for word.
class Twin {
 public:
  Twin(const std::vector<TaskConfig>& list, Instant now, Calendar calendar, std::size_t at_once)
      : calendar_(std::move(calendar)), at_once_(at_once), latest_(now) {
    for (const TaskConfig& config : list) {
      const auto pulse = calendar_.find_previous(CronExpression::parse(config.cron), now);
      const bool boots = pulse && now - *pulse < 1min;
      tasks_[config.name] = {
          .config = config, .served_until = now, .boot = boots ? now : Instant::max()};
    }
  }

  [[nodiscard]] std::vector<std::pair<std::string, Reason>> start_due(Instant now,
                                                                      std::size_t limit) {
    now_ = now;
    latest_ = std::max(latest_, now);
    std::vector<std::pair<std::string, Reason>> starts;
    while (starts.size() < limit && (at_once_ == 0 || running_ < at_once_)) {
      Task* first = nullptr;
      for (auto& [name, task] : tasks_) {
        if (task.running || since(task) == Instant::max()) continue;
        if (first == nullptr || since(task) < since(*first)) first = &task;
      }
      if (first == nullptr) break;
      const bool retry = first->retry_at <= now && first->retry_at <= due(*first);
      starts.emplace_back(first->config.name,
                          first->boot != Instant::max() ? Reason::boot
                          : retry                       ? Reason::retry
                                                        : Reason::cron);
      first->running = true;
      first->boot = Instant::max();
      first->retry_at = Instant::max();
      first->served_until = latest_;
      ++running_;
    }
    return starts;
  }

  void end(const std::string& name, Outcome outcome, Instant now) {
    Task& task = tasks_[name];
    task.running = false;
    --running_;
    if (outcome == Outcome::failure) task.retry_at = now + task.config.retry_delay;
  }

 private:
  struct Task {
    TaskConfig config;
    Instant served_until;
    Instant boot;
    Instant retry_at = Instant::max();
    bool running = false;
  };

  [[nodiscard]] Instant due(const Task& task) const {
    const auto next =
        calendar_.find_next(CronExpression::parse(task.config.cron), task.served_until);
    return next && *next <= latest_ ? *next : Instant::max();
  }
  [[nodiscard]] Instant since(const Task& task) const {
    return std::min({task.boot, task.retry_at <= now_ ? task.retry_at : Instant::max(), due(task)});
  }

  Calendar calendar_;
  std::size_t at_once_;
  std::size_t running_ = 0;
  Instant now_{};
  Instant latest_;
  std::map<std::string, Task> tasks_;
};

class Pair {
 public:
  explicit Pair(unsigned seed)
      : random_(seed),
        set_back_(roll(2) == 0),
        at_once_(static_cast<std::size_t>(roll(6))),
        list_(random_list()),
        core_(calendar_, at_once_),
        twin_(list_, now_, calendar_, at_once_) {
    core_.apply(make_plan(list_, {}, now_, calendar_, Override::keep_history, Runs::go_on), now_);
  }

  void step() {
    if (set_back_ && roll(5) == 0) {
      now_ = std::max(now_ - Duration{roll(Duration{20min}.count())}, latest_ - 2h);
    } else {
      now_ += Duration{roll(Duration{90s}.count())};
    }
    latest_ = std::max(latest_, now_);
    while (!running_.empty() && roll(3) != 0) end_one();
    const auto limit = static_cast<std::size_t>(roll(2) == 0 ? roll(4) : 1000);

    auto starts = core_.start_due(now_, limit);
    ASSERT_NO_FATAL_FAILURE(check_fences(starts));
    if (roll(4) == 0) {  // they could not be recorded
      core_.undo(starts);
      const auto again = core_.start_due(now_, limit);
      ASSERT_EQ(reasons_of(again), reasons_of(starts)) << "after undo()";
      starts = again;
      ASSERT_NO_FATAL_FAILURE(check_fences(starts));
    }

    ASSERT_EQ(reasons_of(starts), twin_.start_due(now_, limit)) << now_.time_since_epoch().count();
    for (const Start& start : starts) {
      ASSERT_TRUE(running_.insert(start.task).second) << "overlaps";
      ASSERT_NO_FATAL_FAILURE(check_start(start));
      ASSERT_NO_FATAL_FAILURE(check_key(start));
    }
    runs_ += starts.size();
    ASSERT_LE(core_.queued(), 5 * list_.size() + 64);
  }

  [[nodiscard]] std::size_t runs() const { return runs_; }

 private:
  int roll(std::int64_t below) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(below));
  }

  std::vector<TaskConfig> random_list() {
    std::vector<TaskConfig> list;
    for (int i = 0; i <= roll(12); ++i) {
      list.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                      .cron = crons[static_cast<std::size_t>(roll(4))],
                      .retry_delay = Duration{roll(Duration{3min}.count())},
                      .registration = static_cast<std::uint32_t>(100 - i)});
    }
    return list;
  }

  void end_one() {
    const auto which = std::next(running_.begin(), roll(static_cast<int>(running_.size())));
    // A retry that was due, and no longer is, loses its place. Its order does not matter.
    const bool fails = roll(3) == 0 && !set_back_;
    const Outcome outcome = fails ? Outcome::failure : Outcome::success;
    twin_.end(core_.task(*which).name, outcome, now_);
    core_.end(*which, outcome, now_);
    running_.erase(which);
  }

  // P8: fences grow with each start, including undone ones, which may have reached the disk.
  void check_fences(const std::vector<Start>& starts) {
    for (const Start& start : starts) {
      ASSERT_GT(start.fence, newest_fence_);
      newest_fence_ = start.fence;
    }
  }

  // P8: a retry is for the pulse of the run before it, and any other start for a new pulse.
  void check_key(const Start& start) {
    const TaskProgress& before = start.before.progress;
    if (start.reason == Reason::retry) {
      ASSERT_EQ(start.pulse, before.pulse);
      ASSERT_EQ(start.attempt, before.attempt + 1);
      ASSERT_EQ(start.retries, before.retries + 1);
    } else {
      ASSERT_TRUE(pulses_.emplace(start.task, start.pulse).second);
      ASSERT_EQ(start.attempt, 1);
      ASSERT_EQ(start.retries, 0);
    }
  }

  // A start agrees with the task that it started.
  void check_start(const Start& start) const {
    const Core::Task& task = core_.task(start.task);
    ASSERT_EQ(start.name, task.name);
    ASSERT_EQ(start.registration, task.registration);
    ASSERT_EQ(start.pulse, task.progress.pulse);
    ASSERT_EQ(start.attempt, task.progress.attempt);
    ASSERT_EQ(start.retries, task.progress.retries);
    ASSERT_EQ(start.fence, task.progress.fence);
    ASSERT_EQ(start.recurrence, task.progress.recurrence);
    ASSERT_EQ(start.at, task.progress.last_attempt);
    ASSERT_EQ(start.served_before, start.before.progress.served_until);
    ASSERT_EQ(start.served_until, task.progress.served_until);
  }

  [[nodiscard]] static std::vector<std::pair<std::string, Reason>> reasons_of(
      const std::vector<Start>& starts) {
    std::vector<std::pair<std::string, Reason>> reasons;
    for (const Start& start : starts) reasons.emplace_back(start.name, start.reason);
    return reasons;
  }

  std::mt19937_64 random_;
  Instant now_ = at("2025-03-09T06:00:30Z");
  Instant latest_ = now_;
  Calendar calendar_{Zone::utc()};
  bool set_back_;  // whether the clock is sometimes set back (T7)
  std::size_t at_once_;
  std::vector<TaskConfig> list_;
  Core core_;
  Twin twin_;
  std::set<TaskId> running_;
  std::set<std::pair<TaskId, Instant>> pulses_;
  std::uint64_t newest_fence_ = 0;
  std::size_t runs_ = 0;
};

TEST(Core, starts_the_same_tasks_in_the_same_order_as_a_full_scan) {
  std::size_t runs = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Pair pair{seed};
    for (int step = 0; step < 100; ++step) {
      ASSERT_NO_FATAL_FAILURE(pair.step()) << "step " << step;
    }
    runs += pair.runs();
  }
  EXPECT_GT(runs, 80'000U);
}

// K3, T7: a core begins with a record that is ahead of its clock by less than a correction, and the
// clock then jumps ahead. The oldest pulse is served, and those after the record are not.
TEST(Core, owes_the_pulses_after_a_record_that_was_ahead_of_the_clock) {
  const Calendar calendar{Zone::utc()};
  const TaskConfig config{.name = "a", .cron = "0 * * * *", .retry_delay = 1min};
  StoredState stored;
  stored.records.push_back({.config = config,
                            .progress = {.attempt = 1,
                                         .fence = 1,
                                         .pulse = at("2025-03-03T12:00:00Z"),
                                         .first_coming = at("2025-03-03T10:30:00Z"),
                                         .served_until = at("2025-03-03T12:10:00Z"),
                                         .last_attempt = at("2025-03-03T12:10:00Z"),
                                         .last_success = at("2025-03-03T12:10:00Z")},
                            .scheduler = {}});
  const Instant behind = at("2025-03-03T11:30:00Z");
  Core core{calendar, 0};
  core.apply(
      make_plan({config}, std::move(stored), behind, calendar, Override::keep_history, Runs::go_on),
      behind);
  EXPECT_TRUE(core.start_due(behind).empty());
  const auto starts = core.start_due(at("2025-03-03T15:30:00Z"));
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts[0].pulse, at("2025-03-03T13:00:00Z"));
}

// A core with one task that pulses every minute, which another member of a cluster may run.
struct Shared {
  explicit Shared(TaskProgress progress, bool elsewhere, std::size_t at_once = 1)
      : core(Calendar{Zone::utc()}, at_once) {
    Plan plan;
    plan.fence = progress.fence;
    for (const char* name : {"a", "b"}) {
      plan.tasks.push_back({.config = {.name = name, .cron = "* * * * *", .retry_delay = 5s},
                            .schedule = CronExpression::parse("* * * * *"),
                            .progress = progress,
                            .classification = Classification::preserved,
                            .runs_elsewhere = elsewhere});
      progress = {.first_coming = begin, .served_until = begin};
      elsewhere = false;
    }
    core.apply(plan, begin);
  }
  static constexpr Instant begin = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};

  [[nodiscard]] std::vector<std::string> start(Instant now) {
    std::vector<std::string> names;
    for (const Start& start : core.start_due(now)) names.push_back(start.name);
    return names;
  }
  Core core;
};

const TaskProgress running{.state = TaskState::running,
                           .attempt = 1,
                           .fence = 7,
                           .pulse = Shared::begin,
                           .first_coming = Shared::begin,
                           .served_until = Shared::begin,
                           .last_attempt = Shared::begin};

// N1: X1 is per member.
TEST(Core, gives_a_run_elsewhere_no_place_of_its_own) {
  Shared shared{running, true};

  EXPECT_EQ(shared.core.running(), 0U);
  EXPECT_EQ(shared.start(Shared::begin + 1min), std::vector<std::string>{"b"});
  EXPECT_EQ(shared.core.running(), 1U);

  shared.core.end(0, Outcome::success, Shared::begin + 61s);
  EXPECT_EQ(shared.core.running(), 1U);  // b
}

// N7: its end is recorded as ever; K3: a pulse during the run stays owed.
TEST(Core, owes_the_pulses_during_a_run_elsewhere) {
  Shared shared{running, true, 0};
  EXPECT_EQ(shared.start(Shared::begin + 1min), std::vector<std::string>{"b"});

  shared.core.end(0, Outcome::failure, Shared::begin + 61s);
  EXPECT_EQ(shared.start(Shared::begin + 61s), std::vector<std::string>{"a"});
}

// N6: what ran on a member that died is restarted, with a fence of its own (P8).
TEST(Core, restarts_a_run_that_was_interrupted) {
  Shared shared{running, true, 0};

  shared.core.interrupt(0, Shared::begin + 10s);
  const auto starts = shared.core.start_due(Shared::begin + 10s);

  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0].reason, Reason::orphan);
  EXPECT_EQ(starts[0].attempt, 2U);
  EXPECT_GT(starts[0].fence, 7U);
  EXPECT_EQ(starts[0].pulse, Shared::begin);
}

// K3: a start that takes long to be recorded serves the pulses up to then.
TEST(Core, counts_a_start_from_when_it_is_recorded) {
  Shared shared{{.first_coming = Shared::begin, .served_until = Shared::begin}, false, 0};
  const auto starts = shared.core.start_due(Shared::begin + 1min);
  ASSERT_EQ(starts.size(), 2U);

  for (const Start& start : starts) {
    shared.core.postpone_start(start.task, Shared::begin + 2min + 3s);
    shared.core.end(start.task, Outcome::success, Shared::begin + 2min + 4s);
  }

  EXPECT_TRUE(shared.start(Shared::begin + 2min + 4s).empty());
  EXPECT_EQ(shared.core.task(0).progress.last_attempt, Shared::begin + 2min + 3s);
  EXPECT_EQ(shared.start(Shared::begin + 3min).size(), 2U);
}

}  // namespace
}  // namespace dutiful
