#include "sim/random_scenario.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/dice.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, 14> zones{"UTC",
                                            "America/New_York",
                                            "Europe/Berlin",
                                            "Australia/Lord_Howe",
                                            "Pacific/Apia",
                                            "Asia/Kathmandu",
                                            "America/St_Johns",
                                            "Africa/Casablanca",
                                            "Asia/Tehran",
                                            "Europe/Dublin",
                                            "America/Sao_Paulo",
                                            "Antarctica/Troll",
                                            "Europe/London",
                                            "America/Scoresbysund"};

constexpr std::array<const char*, 8> names{
    "a", "b", "c", "backup", "mail 2", "\xc3\xa9t\xc3\xa9", "z-index", "A"};

class Generator {
 public:
  Generator(std::uint64_t seed, Duration length)
      : dice_(seed),
        length_(length),
        // A world that lasts years must not be as busy as one that lasts hours.
        busiest_(std::max<Duration>(1s, length / 20'000)) {}

  Scenario make() {
    scenario_.zone = Zone::load(dice_.one_of(zones));
    choose_policies();
    begin_ = start_of_the_world();
    at_ = begin_;
    for (const char* name : names) choose_callback(name);
    list_.clear();
    const int tasks = dice_.between(1, 5);
    while (static_cast<int>(list_.size()) < tasks) add_task();

    initialize();
    const int steps = dice_.between(2, 40);
    for (int i = 0; i < steps; ++i) {
      pass(length_ / steps);
      if (at_ >= begin_ + length_) break;
      add_step();
    }
    scenario_.steps.push_back({.at = std::max(at_, begin_ + length_), .kind = Step::Kind::end});
    return std::move(scenario_);
  }

 private:
  void choose_policies() {
    Policies& policies = scenario_.policies;
    if (dice_.chance(30)) policies.repeated_minutes = RepeatedMinutes::first_only;
    if (dice_.chance(40)) policies.reinitialize = Reinitialize::reconcile;
    if (dice_.chance(30)) policies.override = Override::reset_history;
    if (dice_.chance(30)) policies.max_concurrent = static_cast<std::size_t>(dice_.between(1, 3));
  }

  // Any time from 1990 on, or shortly before the clocks change.
  Instant start_of_the_world() {
    const Instant somewhere =
        std::chrono::sys_days{std::chrono::year{1990} / 1 / 1} + dice_.up_to(24h * 365 * 48);
    if (dice_.chance(40)) return somewhere;
    const auto change = next_change(somewhere);
    return change ? *change - dice_.up_to(std::min<Duration>(length_, 5h)) : somewhere;
  }

  // When the offset next changes, within a year.
  [[nodiscard]] std::optional<Instant> next_change(Instant after) const {
    const Zone& zone = scenario_.zone;
    for (Instant day = after; day < after + 24h * 366; day += 24h) {
      if (zone.offset_at(day) == zone.offset_at(day + 24h)) continue;
      Instant low = day;
      Instant high = day + 24h;
      while (high - low > 1ms) {
        const Instant middle = low + (high - low) / 2;
        (zone.offset_at(middle) == zone.offset_at(day) ? low : high) = middle;
      }
      return high;
    }
    return std::nullopt;
  }

  void choose_callback(const char* name) {
    std::vector<ScriptedRun>& runs = scenario_.callbacks[name];
    const int count = dice_.between(1, 5);
    for (int i = 0; i < count; ++i) {
      ScriptedRun run{.takes = run_time()};
      if (dice_.chance(40)) run.result = Outcome::failure;
      if (dice_.chance(2)) run.result.reset();
      runs.push_back(run);
    }
    // A task that always fails must not fill the world.
    if (runs.back().result == Outcome::failure && runs.back().takes < busiest_) {
      runs.back().takes = busiest_;
    }
  }

  Duration run_time() {
    const std::array<Duration, 9> usual{
        0ms, 0ms, 1ms, 2500ms, 59'999ms, 60'000ms, 60'001ms, 5min, 1h};
    return dice_.chance(70) ? dice_.one_of(usual) : dice_.up_to(2h);
  }

  Duration retry_delay() {
    const std::array<Duration, 9> usual{0ms, 1ms, 1s, 30s, 59'999ms, 1min, 5min, 1h, 24h};
    return dice_.one_of(usual);
  }

  std::string number(int low, int high) { return std::to_string(dice_.between(low, high)); }

  std::string cron() {
    const std::string minute = number(0, 59);
    const bool busy = busiest_ <= 5s;
    switch (dice_.below(busy ? 12 : 9)) {
      case 0:
        return minute + " * * * *";
      case 1:
        return "0,30 " + number(0, 2) + "-4 * * *";
      case 2:
        return minute + ' ' + number(0, 23) + " * * *";
      case 3:
        return minute + " 1-3 * * *";
      case 4:
        return "30 2 * * *";
      case 5:
        return minute + ' ' + number(0, 5) + ' ' + number(1, 31) + " * " + number(0, 6);
      case 6:
        return "0 0 " + number(29, 31) + " 2 *";
      case 7:
        return "0 " + number(0, 11) + ",12 * * 1-5";
      case 8:
        return "59 23 " + number(28, 31) + ' ' + number(1, 12) + " *";
      case 9:
        return "* * * * *";
      case 10:
        return number(0, 9) + '-' + number(10, 59) + " * * * *";
      default:
        return "0,10,20,30,40,50 * * * *";
    }
  }

  void add_task() {
    const char* name = dice_.one_of(names);
    if (std::ranges::find(list_, name, &TaskConfig::name) != list_.end()) return;
    list_.push_back({.name = name, .cron = cron(), .retry_delay = retry_delay()});
  }

  void change_list() {
    if (list_.empty() || dice_.chance(30)) return add_task();
    TaskConfig& task = list_[dice_.below(list_.size())];
    switch (dice_.below(3)) {
      case 0:
        task.cron = cron();
        return;
      case 1:
        task.retry_delay = retry_delay();
        return;
      default:
        std::swap(task, list_.back());
        removed_ = list_.back();
        list_.pop_back();
    }
  }

  void pass(Duration about) {
    if (dice_.chance(15)) return;  // at the same instant
    at_ += dice_.up_to(2 * about);
    if (dice_.chance(60)) at_ = snapped(at_);
  }

  // A nearby instant at which something happens anyway.
  Instant snapped(Instant at) {
    Instant near = std::chrono::floor<std::chrono::minutes>(at);
    if (dice_.chance(40)) near = std::chrono::floor<std::chrono::hours>(at);
    if (dice_.chance(20)) near = next_change(at).value_or(near);
    if (near > begin_ + length_) near = at;
    if (dice_.chance(30)) near += run_time();
    const std::array<Duration, 5> beside{0ms, 0ms, 0ms, 1ms, -1ms};
    return std::max(at_before_step(), near + dice_.one_of(beside));
  }
  [[nodiscard]] Instant at_before_step() const {
    return scenario_.steps.empty() ? begin_ : scenario_.steps.back().at;
  }

  void step(Step step) {
    step.at = at_;
    scenario_.steps.push_back(std::move(step));
  }
  void initialize() { step({.at = {}, .kind = Step::Kind::initialize, .registrations = list_}); }
  // A scheduler that died or stopped is often started again soon.
  void restart() {
    if (!dice_.chance(75)) return;
    pass(std::min<Duration>(length_ / 50, 2h));
    if (dice_.chance(40)) change_list();
    initialize();
  }

  void add_step() {
    const auto roll = dice_.below(100);
    if (roll < 18) {
      step({.at = {}, .kind = Step::Kind::crash});
      restart();
    } else if (roll < 34) {
      initialize();
    } else if (roll < 50) {
      change_list();
      initialize();
    } else if (roll < 54 && removed_) {  // removed and added again at the same instant
      initialize();
      if (std::ranges::find(list_, removed_->name, &TaskConfig::name) == list_.end()) {
        list_.push_back(*removed_);
      }
      initialize();
    } else if (roll < 58) {
      auto invalid = list_;
      invalid.push_back({.name = "", .cron = "* * * * *"});
      step({.at = {}, .kind = Step::Kind::initialize, .registrations = std::move(invalid)});
    } else if (roll < 68) {
      step({.at = {}, .kind = Step::Kind::stop});
      restart();
    } else if (roll < 80) {
      const bool before = dice_.chance(50);
      step({.at = {},
            .kind = Step::Kind::crash_in_commit,
            .crash_in = before ? CrashIn::before_commit : CrashIn::after_commit});
      restart();
    } else if (roll < 88) {
      step({.at = {}, .kind = Step::Kind::fail_commits, .commits = dice_.between(1, 7)});
    } else {
      const Duration most = std::max<Duration>(length_ / 20, 1s);
      step({.at = {},
            .kind = roll < 94 ? Step::Kind::freeze : Step::Kind::set_clock,
            .until = at_ + dice_.up_to(most)});
    }
  }

  Dice dice_;
  Duration length_;
  Duration busiest_;
  Scenario scenario_;
  Instant begin_{};
  Instant at_{};
  std::vector<TaskConfig> list_;
  std::optional<TaskConfig> removed_;
};

}  // namespace

Scenario random_scenario(std::uint64_t seed, Duration length) {
  return Generator{seed, length}.make();
}

}  // namespace dutiful
