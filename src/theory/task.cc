#include "theory/task.h"

#include <algorithm>
#include <utility>

#include "theory/member.h"
#include "time/iso8601.h"

namespace dutiful::theory {

void Task::due(Instant at) {
  if (!due_) due_at_ = at;
  due_.step(true, false);
}

void Task::retry_due() {
  retry_.step(true, false);
}

void Task::run_start(Instant at, Member& on, Fence fence) {
  if (runner_ != nullptr) {
    earlier_runs_.add({.start = {runner_->name, started_}, .fence = fence_, .interrupted = false});
  }
  earlier_runs_.followed_by(on.name, at);
  runner_ = &on;
  fence_ = fence;
  running_.step(true, false);
  due_.step(false, true);
  retry_.step(false, true);
  orphaned_.step(false, true);
  boot_due_.step(false, true);
  retry_at_.reset();
  interrupted_ = false;
  counts_ = true;
  cleared_ = at;
  started_ = at;
}

void Task::run_end() {
  running_.step(false, true);
  runner_ = nullptr;
}

void Task::run_failure(Instant at, Duration retry_delay) {
  // The sum may overflow: a valid delay may be that long, and a rejected one may be anything.
  retry_delay = std::max(retry_delay, Duration::zero());
  constexpr Instant end_of_time = std::chrono::sys_days{year_max / 12 / 31};
  retry_at_ = retry_delay < end_of_time - at ? at + retry_delay : end_of_time;
}

void Task::interrupt(Instant at, Interruption interruption) {
  const bool was_running{running_};
  if (was_running) {
    interrupted_ = true;
    interruption_ = interruption;
    orphaned_at_ = at;
    earlier_runs_.add({.start = {runner_->name, started_}, .fence = fence_, .interrupted = true});
    runner_ = nullptr;
  }
  orphaned_.step(was_running, false);
  running_.step(false, true);
}

void Task::first_coming(Instant at, bool mountain_due) {
  due_.step(false, true);
  retry_.step(false, true);
  orphaned_.step(false, true);
  boot_due_.step(false, true);
  boot_due_.step(mountain_due, false);
  retry_at_.reset();
  cleared_ = at;
  came_ = at;
  forget_successes();
}

void Task::forget_successes() {
  succeeded_.reset();
  counts_ = false;
}

std::optional<Task::Successes> Task::succeed() {
  if (!counts_) return std::nullopt;
  const auto first = std::exchange(succeeded_, started_);
  if (!first) return std::nullopt;
  return Successes{*first, started_};
}

std::uint64_t Task::digest(Instant now, Duration horizon) const {
  std::uint64_t digest = 0;
  const auto flag = [&digest](bool value) { digest = digest * 2 + (value ? 1 : 0); };
  const auto instant = [&](Instant at) {
    digest = digest * 1'000'003 + static_cast<std::uint64_t>(std::max(at - now, -horizon).count());
  };
  for (const bool value : {bool{running_},
                           bool{due_},
                           bool{retry_},
                           bool{orphaned_},
                           bool{boot_due_},
                           interrupted_,
                           counts_,
                           registration != nullptr,
                           owed_since.has_value(),
                           overdue,
                           retry_at_.has_value(),
                           succeeded_.has_value()}) {
    flag(value);
  }
  instant(cleared_);
  instant(started_);
  if (retry_at_) instant(*retry_at_);
  if (succeeded_) instant(*succeeded_);
  if (owed_since) instant(owed_at);
  if (runner_ != nullptr) digest = digest * 31 + std::hash<std::string>{}(runner_->name);
  return digest * 31 + earlier_runs_.digest(now, horizon);
}

std::string Task::why_pending() const {
  std::string why;
  const auto add = [&why](const std::string& reason, Instant since) {
    why += (why.empty() ? "" : ", ") + reason + ' ' + format_utc(since);
  };
  if (due_pending()) add("due since", due_at_);
  if (retry_pending()) add("to be retried since", retry_at_.value_or(Instant{}));
  if (orphaned_pending()) {
    const bool crashed = interruption_ == Interruption::crash;
    add(crashed ? "interrupted by the crash at" : "interrupted at", orphaned_at_);
  }
  if (boot_due_pending()) add("due in the minute in which it first came,", came_);
  return why;
}

}  // namespace dutiful::theory
