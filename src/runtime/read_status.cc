#include "runtime/read_status.h"

#include <algorithm>
#include <vector>

#include "core/obligations.h"
#include "cron/english.h"

namespace dutiful {
namespace {

using Lifecycle = SchedulerStatus::Lifecycle;
using State = TaskStatus::State;
using WaitsFor = TaskStatus::WaitsFor;

// The list may be newer than the lifecycle, which was read before it.
Lifecycle lifecycle_beside(const ShownList* list, Lifecycle before) {
  if (before == Lifecycle::stopping) return before;
  if (list != nullptr) return Lifecycle::running;
  // A scheduler that ran a moment ago, and has no list, is stopping.
  return before == Lifecycle::running ? Lifecycle::stopping : before;
}

State state_of(const TaskProgress& progress) {
  if (progress.orphan_pending) return State::interrupted;
  switch (progress.state) {
    case TaskState::running:
      return State::running;
    case TaskState::awaiting_retry:
      return State::awaiting_retry;
    case TaskState::awaiting_run:
      break;
  }
  return State::awaiting_run;
}

// The pulses of the schedules of a list around one instant. Many tasks ask the same question, so
// each schedule keeps its answers.
class Pulses {
 public:
  Pulses(const ShownList& list, const Calendar& calendar, Instant now)
      : list_(list), calendar_(calendar), now_(now), answers_(list.schedules().size()) {}

  // The next one that is not served.
  [[nodiscard]] std::optional<Instant> next(Schedules::Number schedule, Instant served_until) {
    if (served_until <= now_) return around(schedule).next;
    return calendar_.find_next(list_.schedules()[schedule].cron, served_until);
  }

  struct Unserved {
    Instant after = no_instant;
    Instant first = no_instant;  // no_instant: there is none
    std::int64_t count = 0;
  };
  // Whether the schedule has a pulse in the minute of the given instant: a task that
  // comes then is owed a run for it, though it is earlier (K2).
  [[nodiscard]] bool has_boot_pulse(Schedules::Number schedule, Instant first_coming) const {
    const auto pulse = calendar_.find_previous(list_.schedules()[schedule].cron, first_coming);
    return pulse && *pulse > first_coming - std::chrono::minutes{1};
  }

  // The pulses up to now that are later than the given instant.
  [[nodiscard]] const Unserved& unserved(Schedules::Number schedule, Instant served_until) {
    static constexpr Unserved none{};
    Around& around = this->around(schedule);
    if (served_until == no_instant || !around.latest || *around.latest <= served_until) return none;
    if (around.unserved.after != served_until) {
      const CronExpression& cron = list_.schedules()[schedule].cron;
      around.unserved = {served_until,
                         calendar_.find_next(cron, served_until).value_or(no_instant),
                         calendar_.count(cron, served_until, now_)};
    }
    return around.unserved;
  }

 private:
  struct Around {
    bool is_known = false;
    std::optional<Instant> latest{};  // at or before now
    std::optional<Instant> next{};
    Unserved unserved{};  // the newest answer
  };

  Around& around(Schedules::Number schedule) {
    Around& answer = answers_[schedule];
    if (!answer.is_known) {
      const CronExpression& cron = list_.schedules()[schedule].cron;
      answer.is_known = true;
      answer.latest = calendar_.find_previous(cron, now_);
      answer.next = calendar_.find_next(cron, now_);
    }
    return answer;
  }

  const ShownList& list_;
  const Calendar& calendar_;
  const Instant now_;
  std::vector<Around> answers_;
};

TaskStatus status_of(
    const ShownList& list, std::size_t place, Pulses& pulses, Instant now, WaitsFor waits_for) {
  const auto [progress, reason] = list.read(place);
  const Schedules::Number schedule = list.schedule(place);
  const Pulses::Unserved& unserved = pulses.unserved(schedule, progress.served_until);
  TaskStatus status{.name = list.name(place),
                    .cron = list.schedules()[schedule].text,
                    .state = state_of(progress),
                    .attempt = progress.attempt,
                    .fence = progress.fence,
                    .reason = reason ? reason : recorded_reason(progress),
                    .pulse = happened(progress.pulse),
                    .last_attempt = happened(progress.last_attempt),
                    .last_success = happened(progress.last_success),
                    .last_failure = happened(progress.last_failure),
                    .retry_at = happened(progress.retry_at),
                    .first_coming = happened(progress.first_coming),
                    .next_pulse = pulses.next(schedule, progress.served_until)};
  const Obligations pending = obligations_of(progress, unserved.first, now);
  if (pending.any()) {
    const Reason owed_for = pending.reason();
    const bool runs = progress.state == TaskState::running;
    const bool owes_boot =
        progress.boot_pending && pulses.has_boot_pulse(schedule, progress.first_coming);
    status.owed = {.reason = owed_for,
                   .since = pending.since(owed_for),
                   .pulses = unserved.count + (owes_boot ? 1 : 0),
                   .waits_for = runs ? WaitsFor::own_run : waits_for};
    if (!runs && pending.earliest() <= now - punctual) status.overdue_since = pending.earliest();
  }
  return status;
}

// What keeps every task from starting.
WaitsFor obstacle(const SchedulerStatus& status) {
  if (status.lifecycle == Lifecycle::stopping) return WaitsFor::restart;
  if (!in_clock_range(status.at)) return WaitsFor::clock;
  if (status.store_failing_since) return WaitsFor::store;
  const bool is_full = status.max_concurrent != 0 && status.running >= status.max_concurrent;
  return is_full ? WaitsFor::limit : WaitsFor::nothing;
}

}  // namespace

SchedulerStatus read_status(const StatusBoard& board,
                            const Calendar& calendar,
                            Lifecycle lifecycle,
                            std::size_t max_concurrent,
                            Instant now) {
  const auto list = board.list();
  SchedulerStatus status{.at = now,
                         .lifecycle = lifecycle_beside(list.get(), lifecycle),
                         .running = board.running(),
                         .max_concurrent = max_concurrent,
                         .store_failing_since = happened(board.store_failing_since()),
                         .store_retry_at = happened(board.store_retry_at()),
                         .texts = list};
  if (!list) return status;
  const WaitsFor waits_for = obstacle(status);
  // While the clock is out of its range, the scheduler's time stands still. A pulse that has come
  // stays owed if the clock is set back by no more than a correction (T7).
  const Instant latest = board.time();
  const Instant time = in_clock_range(now) ? now : latest;
  Pulses pulses{*list, calendar, std::max(time, latest)};
  status.tasks.reserve(list->size());
  for (std::size_t place = 0; place < list->size(); ++place) {
    status.tasks.push_back(status_of(*list, place, pulses, time, waits_for));
  }
  return status;
}

std::string TaskStatus::english() const {
  return to_english(CronExpression::parse(cron));
}

const TaskStatus* SchedulerStatus::find(std::string_view name) const noexcept {
  const auto found = std::ranges::lower_bound(tasks, name, {}, &TaskStatus::name);
  return found != tasks.end() && found->name == name ? &*found : nullptr;
}

const char* name_of(TaskStatus::State state) noexcept {
  switch (state) {
    case State::awaiting_run:
      return "AwaitingRun";
    case State::running:
      return "Running";
    case State::awaiting_retry:
      return "AwaitingRetry";
    case State::interrupted:
      return "Interrupted";
  }
  return "";
}

const char* name_of(TaskStatus::WaitsFor waits_for) noexcept {
  switch (waits_for) {
    case WaitsFor::nothing:
      return "nothing";
    case WaitsFor::own_run:
      return "own_run";
    case WaitsFor::limit:
      return "limit";
    case WaitsFor::store:
      return "store";
    case WaitsFor::clock:
      return "clock";
    case WaitsFor::restart:
      return "restart";
  }
  return "";
}

const char* name_of(SchedulerStatus::Lifecycle lifecycle) noexcept {
  switch (lifecycle) {
    case Lifecycle::uninitialized:
      return "uninitialized";
    case Lifecycle::initializing:
      return "initializing";
    case Lifecycle::running:
      return "running";
    case Lifecycle::stopping:
      return "stopping";
  }
  return "";
}

}  // namespace dutiful
