#include "sim/exhaustive.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "sim/judge.h"
#include "sim/world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// Older events make no difference: every pulse of these schedules is more recent.
constexpr Duration horizon = 5min;

const Instant midnight = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3};

enum class Action : std::uint8_t {
  pass_time,
  first_succeeds,  // of the current runs, the one that started first …
  first_fails,
  last_succeeds,  // … or last
  last_fails,
  crash,
  stop,
  initialize,
  initialize_other,
  initialize_none,
  fail_commit,
  die_before_commit,
  die_after_commit,
};
constexpr std::array<const char*, 13> action_names{"time passes",
                                                   "the first run succeeds",
                                                   "the first run fails",
                                                   "the last run succeeds",
                                                   "the last run fails",
                                                   "crash",
                                                   "stop",
                                                   "initialize with the list",
                                                   "initialize with the other list",
                                                   "initialize with no task",
                                                   "the next transaction fails",
                                                   "the process dies before its next transaction",
                                                   "the process dies after its next transaction"};

using Path = std::vector<Action>;

std::vector<TaskConfig> list_of(int tasks) {
  std::vector<TaskConfig> list{{.name = "a", .cron = "* * * * *", .retry_delay = 30s}};
  if (tasks > 1) list.push_back({.name = "b", .cron = "* * * * *", .retry_delay = 0s});
  return list;
}

// One task is changed; of two, one is removed.
std::vector<TaskConfig> other_list_of(int tasks) {
  const std::string even =
      "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58 * * * "
      "*";
  return {{.name = tasks > 1 ? "b" : "a", .cron = even, .retry_delay = 90s}};
}

// A world after some steps, judged.
class Walk {
 public:
  explicit Walk(const Exhaustive& options)
      : options_(options),
        scenario_{.policies = options.policies},
        judge_(scenario_),
        world_(scenario_.zone, scenario_.policies, judge_) {
    world_.set_clock(midnight);
  }

  // Returns false if the step is impossible because there is no such run.
  bool take(Action action) {
    const auto& running = world_.running();
    switch (action) {
      case Action::pass_time:
        world_.set_clock(next_instant());
        break;
      case Action::first_succeeds:
      case Action::first_fails:
        if (running.empty()) return false;
        world_.end(running.begin()->first,
                   action == Action::first_fails ? Outcome::failure : Outcome::success);
        break;
      case Action::last_succeeds:
      case Action::last_fails:
        if (running.size() < 2) return false;
        world_.end(running.rbegin()->first,
                   action == Action::last_fails ? Outcome::failure : Outcome::success);
        break;
      case Action::crash:
        world_.crash();
        break;
      case Action::stop:
        world_.stop();
        break;
      case Action::initialize:
        world_.initialize(list_of(options_.tasks));
        break;
      case Action::initialize_other:
        world_.initialize(other_list_of(options_.tasks));
        break;
      case Action::initialize_none:
        world_.initialize({});
        break;
      case Action::fail_commit:
        world_.fail_commits(1);
        return true;
      case Action::die_before_commit:
        world_.crash_in_commit(CrashIn::before_commit);
        return true;
      case Action::die_after_commit:
        world_.crash_in_commit(CrashIn::after_commit);
        return true;
    }
    world_.start();
    return true;
  }

  [[nodiscard]] const std::vector<theory::Violation>& violations() const {
    return judge_.violations();
  }

  // Equal for states that have the same future.
  [[nodiscard]] std::uint64_t digest() const {
    const Instant now = world_.now();
    std::uint64_t digest = judge_.digest(horizon);
    const auto mix = [&digest](std::uint64_t value) {
      digest = (digest ^ value) * 0x9e3779b97f4a7c15;
      digest ^= digest >> 29;
    };
    const auto mix_instant = [&](Instant at) {
      mix(at == no_instant
              ? 1
              : static_cast<std::uint64_t>(std::max<Duration>(at - now, -horizon).count()));
    };
    const auto mix_progress = [&](const TaskProgress& progress) {
      mix(static_cast<std::uint64_t>(progress.state));
      mix((progress.boot_pending ? 2U : 0U) + (progress.orphan_pending ? 1U : 0U));
      mix_instant(progress.served_until);
      mix_instant(progress.retry_at);
    };
    const auto mix_text = [&](const std::string& text) { mix(std::hash<std::string>{}(text)); };
    mix(static_cast<std::uint64_t>((now - midnight) % 2min / 1ms));  // phase of both schedules
    mix_instant(world_.next_wake());
    mix(static_cast<std::uint64_t>(world_.engine().lifecycle()));
    mix(world_.faults().failing_commits > 0 ? 1 : 0);
    mix(static_cast<std::uint64_t>(world_.faults().crash_in));
    const Core& core = world_.engine().core();
    for (const auto& [number, task] : world_.running()) mix_text(core.task(task).name);
    core.for_each_registered([&](const Core::Task& task) {
      mix_text(task.name + core.cron_text(task));
      mix_progress(task.progress);
      mix_instant(core.due_since(task));
    });
    for (const MemoryState::Row& stored : world_.state()->rows) {
      mix_text(stored.config.name + stored.config.cron);
      mix_progress(stored.progress);
    }
    return digest;
  }

 private:
  // Advances to the next event or the next minute.
  [[nodiscard]] Instant next_instant() const {
    const Instant minute =
        std::chrono::floor<std::chrono::minutes>(world_.now()) + std::chrono::minutes{1};
    const Instant wake = world_.next_wake();
    return wake > world_.now() ? std::min(wake, minute) : minute;
  }

  const Exhaustive& options_;
  Scenario scenario_;
  Judge judge_;
  World world_;
};

std::vector<std::string> names_of(const Path& path) {
  std::vector<std::string> names;
  for (const Action action : path)
    names.emplace_back(action_names[static_cast<std::size_t>(action)]);
  return names;
}

}  // namespace

Exhausted search(const Exhaustive& options) {
  Exhausted result;
  std::unordered_set<std::uint64_t> seen;
  std::vector<Path> frontier{{}};
  while (!frontier.empty() && result.depth < options.depth_max) {
    std::vector<Path> next;
    for (const Path& path : frontier) {
      for (std::size_t number = 0; number < action_names.size(); ++number) {
        if (++result.steps % 1024 == 0 && !options.proceed(result.depth + 1, result.states)) {
          return result;
        }
        Walk walk{options};
        for (const Action step : path) walk.take(step);
        const auto action = static_cast<Action>(number);
        if (!walk.take(action)) continue;
        if (!walk.violations().empty()) {
          Path whole = path;
          whole.push_back(action);
          result.counterexample = names_of(whole);
          result.violation = walk.violations().front();
          return result;
        }
        if (!seen.insert(walk.digest()).second) continue;
        ++result.states;
        next.push_back(path);
        next.back().push_back(action);
      }
    }
    ++result.depth;
    frontier = std::move(next);
  }
  return result;
}

}  // namespace dutiful
