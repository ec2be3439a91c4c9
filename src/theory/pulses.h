// Due and RetryDue. A trace does not contain them: they follow from the registrations, the zone and
// the clock.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <dutiful/calendar.h>

#include "theory/task.h"

namespace dutiful::theory {

// The tasks with one cron text. A task that has a pulse pending does not wait for another, so a
// pulse that no task waits for costs nothing.
struct Schedule {
  CronExpression cron;
  Instant next{};  // while a task waits
  std::vector<Task*> waiting{};
};

class Pulses {
 public:
  explicit Pulses(const Zone& zone, RepeatedMinutes repeated_minutes);

  // Due_x and MinuteStart := ∃x Due_x, the pulses of `* * * * *`.
  //
  // MountainDue_x := (¬MinuteStart) S Due_x: the civil minute that began with a pulse of the
  // schedule is still in progress. Under `first_only` that is false in a minute's second occurrence
  // (RULES H10), though a minute starts there as well.
  [[nodiscard]] bool mountain_due(const CronExpression& cron, Instant at) const;

  [[nodiscard]] std::optional<Instant> next_due(const CronExpression& cron, Instant after) const {
    return calendar_.find_next(cron, after);
  }

  // Forgets every schedule and the tasks that wait for it. Retries stay.
  void clear_schedules();
  // The schedule of that text; null if it is not a cron expression.
  [[nodiscard]] Schedule* schedule(const std::string& cron);

  // The task waits for the next pulse after `now`, once.
  void await_due(Task& task, Instant now);
  // The task waits for its retry, and no longer does.
  void await_retry(Task& task);
  void cancel_retry(Task& task);

  // Finds the earliest instant at or before `until` that a task waits for, and calls `due` or
  // `retry_due` for each of its tasks. Returns false if there is none.
  template <typename Due, typename RetryDue>
  bool take(Instant until, Due due, RetryDue retry_due) {
    const bool has_due = !queue_.empty();
    const bool has_retry = !retries_.empty();
    const bool retry_first =
        has_retry && (!has_due || retries_.begin()->first <= queue_.begin()->first);
    if (retry_first) {
      const auto [at, task] = *retries_.begin();
      if (at > until) return false;
      retries_.erase(retries_.begin());
      retry_due(*task, at);
      return true;
    }
    if (!has_due || queue_.begin()->first > until) return false;
    const auto [at, schedule] = *queue_.begin();
    queue_.erase(queue_.begin());
    std::vector<Task*> waiting;
    waiting.swap(schedule->waiting);
    for (Task* task : waiting) {
      task->awaits_pulse = false;
      due(*task, at);
    }
    return true;
  }

 private:
  Calendar calendar_;
  Calendar minutes_;  // every minute that starts, under either policy
  CronExpression every_minute_;
  std::deque<Schedule> schedules_;
  std::unordered_map<std::string, Schedule*> by_text_;
  std::set<std::pair<Instant, Schedule*>> queue_;  // the schedules that a task waits for
  std::set<std::pair<Instant, Task*>> retries_;
};

}  // namespace dutiful::theory
