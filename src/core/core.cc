#include "core/core.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "account/bookkeeper.h"
#include "core/ends.h"
#include "core/make_room.h"

namespace dutiful {
namespace {

// Makes the newest run one for a new pulse. Pulses only grow, so keys are unique (P8), except that
// after a clock correction (T7) pulses up to the latest one recur.
void take_up(TaskProgress& progress, Instant pulse) {
  if (pulse <= progress.pulse) {
    progress.recurs_until = std::max(progress.recurs_until, progress.pulse);
  }
  progress.pulse = pulse;
  progress.recurrence = pulse <= progress.recurs_until ? progress.fence : 0;
}

}  // namespace

Core::Core(Calendar calendar, std::size_t max_concurrent)
    : max_concurrent_(max_concurrent), schedules_(std::move(calendar)) {}

void Core::adopt_running(Plan& plan) const {
  for (const Task& task : tasks_) {
    if (!task.in_use || task.registered) continue;
    const auto name = [](const PlannedTask& planned) -> const std::string& {
      return planned.config.name;
    };
    const auto planned = std::ranges::lower_bound(plan.tasks, task.name, {}, name);
    if (planned != plan.tasks.end() && planned->config.name == task.name) {
      keep_running(planned->progress, task.progress);
    }
  }
}

void Core::apply(const Plan& plan, Instant now) {
  // Copies of the names, because tasks_ moves its elements while the list is built.
  std::unordered_map<std::string, TaskId> running;
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    Task& task = tasks_[id];
    if (!task.in_use) continue;
    task.registered = false;
    task.delivered_due = no_instant;
    task.queued_since = no_instant;
    if (task.progress.state == TaskState::running && !task.elsewhere) {
      running.emplace(task.name, id);
    } else {
      task.in_use = false;
      free_.push_back(id);
    }
  }
  schedules_.clear();
  retries_.clear();
  ready_.clear();
  awaiting_retry_ = 0;

  std::unordered_map<std::string_view, Schedules::Number> interned;  // by the texts of the plan
  // The newest answer of the calendar for each schedule: many tasks ask the same question.
  struct Due {
    Instant after;
    std::optional<Instant> at;
  };
  std::vector<Due> due_of;
  const Calendar& calendar = schedules_.calendar();
  tasks_.reserve(tasks_.size() - free_.size() + plan.tasks.size());
  std::uint32_t rank = 0;
  for (const PlannedTask& planned : plan.tasks) {
    TaskId id = 0;
    const auto known = running.find(planned.config.name);
    if (known != running.end()) {
      id = known->second;
    } else if (!free_.empty()) {
      id = free_.back();
      free_.pop_back();
    } else {
      id = static_cast<TaskId>(tasks_.size());
      tasks_.emplace_back();
    }

    Task& task = tasks_[id];
    const TaskProgress& progress = planned.progress;
    const auto [place, is_new] = interned.try_emplace(planned.config.cron, schedules_.size());
    if (is_new) {
      schedules_.add(planned.config.cron, planned.schedule);
      due_of.push_back(
          {progress.served_until, calendar.find_next(planned.schedule, progress.served_until)});
    }
    task = Task{.name = planned.config.name,
                .retry_delay = planned.config.retry_delay,
                .progress = progress,
                .account = planned.account,
                .registration = planned.config.registration,
                .schedule = place->second,
                .rank = rank,
                .registered = true,
                .in_use = true,
                .elsewhere = planned.runs_elsewhere && known == running.end()};
    schedules_.add_task(task.schedule, id, rank);

    Due& due = due_of[task.schedule];
    if (due.after != progress.served_until) {
      due = {progress.served_until, calendar.find_next(planned.schedule, progress.served_until)};
    }
    if (due.at && *due.at <= now) task.delivered_due = *due.at;
    if (progress.retry_at != no_instant) await_retry(id);
    make_ready(id, now);
    ++rank;
  }
  schedules_.await_pulses(now);
  latest_ = now;
  fence_ = std::max(fence_, plan.fence);
}

void Core::place(const std::vector<std::int64_t>& rows) noexcept {
  for (Task& task : tasks_) {
    if (task.registered) task.row = rows[task.rank];
  }
}

void Core::end(TaskId id, Outcome outcome, Instant now) {
  retries_.make_room();
  ready_.make_room();
  make_room(free_);
  Task& task = tasks_[id];
  if (outcome == Outcome::success) {
    succeed(task.progress, now);
  } else {
    fail(task.progress, now, task.retry_delay);
  }
  leave_run(id);
  if (!task.registered) return;
  if (outcome == Outcome::failure) await_retry(id);
  make_ready(id, now);  // a pulse that came during the run is owed now (K3)
}

void Core::interrupt(TaskId id, Instant now) {
  ready_.make_room();
  make_room(free_);
  Task& task = tasks_[id];
  dutiful::interrupt(task.progress);
  leave_run(id);
  make_ready(id, now);
}

// The task does not run any more. If it is not registered, its number is free.
void Core::leave_run(TaskId id) {
  Task& task = tasks_[id];
  if (!std::exchange(task.elsewhere, false)) --running_;
  if (task.registered) return;
  task.in_use = false;
  free_.push_back(id);
}

void Core::postpone_end(TaskId id, Instant now) {
  retries_.make_room();
  Task& task = tasks_[id];
  if (!task.registered) return;
  if (task.progress.state != TaskState::awaiting_retry) {
    task.progress.last_success = now;
    return;
  }
  --awaiting_retry_;
  fail(task.progress, now, task.retry_delay);
  await_retry(id);
}

void Core::postpone_start(TaskId id, Instant now) noexcept {
  count_start_from(tasks_[id].progress, now);
}

void Core::follow_clock(Instant now, std::vector<ClockCorrection>& corrections) {
  if (now + clock_ahead_max >= latest_) return;
  corrections.reserve(corrections.size() + tasks_.size());  // no correction may be lost
  // Pulses of the previous clock.
  for (Schedules::Number number = 0; number < schedules_.size(); ++number) {
    deliver_rest(number, now);
  }
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    Task& task = tasks_[id];
    if (!task.registered) continue;
    const Instant persisted = correct_clock(task.progress, now);
    if (persisted != no_instant) {
      corrections.push_back({id, persisted});
      count_again(task.account, schedules_.calendar(), cron(task), now, persisted);
    }
    // A pulse that only the previous clock had reached will come again.
    if (task.delivered_due > now) task.delivered_due = no_instant;
  }
  schedules_.await_pulses(now);
  latest_ = now;
}

std::vector<Start> Core::start_due(Instant now, std::size_t limit) {
  latest_ = std::max(latest_, now);
  take_pulses(now);
  take_retries(now);
  std::vector<Start> starts;
  starts.reserve(startable(limit));
  try {
    while (!at_capacity() && starts.size() < limit && find_ready(now)) {
      retries_.make_room();
      ready_.make_room(starts.size() + 1);  // for undo()
      const Entry entry = ready_.front();
      Task& task = tasks_[entry.id];
      if (task.queued_since == entry.at) {
        if (pending(task, now).any()) {
          starts.push_back(start(entry.id, now));
        } else {
          // The clock was set back, or the end was postponed, while the task waited: nothing is
          // due.
          task.queued_since = no_instant;
          if (task.progress.retry_at != no_instant) {
            retries_.push({task.progress.retry_at, task.rank, entry.id});
          }
        }
      }
      (void)ready_.pop();  // after start(), which may run out of memory
    }
  } catch (...) {
    undo(starts);
    throw;
  }
  return starts;
}

// The most tasks that start_due() can start.
std::size_t Core::startable(std::size_t limit) const {
  if (at_capacity()) return 0;
  if (max_concurrent_ != 0) limit = std::min(limit, max_concurrent_ - running_);
  return std::min(limit, ready_.size() + schedules_.undelivered());
}

void Core::undo(const std::vector<Start>& starts) noexcept {
  for (const Start& undone : starts) {
    Task& task = tasks_[undone.task];
    --running_;
    task.progress = undone.before.progress;
    task.delivered_due = undone.before.due_since;
    if (task.progress.retry_at != no_instant) ++awaiting_retry_;
    make_ready(undone.task, undone.at);  // start_due() has made room
  }
}

Instant Core::next_wake() const {
  if (!at_capacity() && (!ready_.empty() || schedules_.is_delivering())) return no_instant;
  const Instant pulse = schedules_.next_pulse();
  return retries_.empty() ? pulse : std::min(pulse, retries_.front().at);
}

StoredState Core::stored() const {
  StoredState stored{.records = {}, .fence = fence_};
  for (const Task& task : tasks_) {
    if (!task.registered) continue;
    stored.records.push_back({.row = task.row,
                              .config = {.name = task.name,
                                         .cron = cron_text(task),
                                         .retry_delay = task.retry_delay,
                                         .registration = task.registration},
                              .progress = task.progress,
                              .scheduler = {},
                              .account = task.account});
  }
  return stored;
}

void Core::take_pulses(Instant now) {
  while (schedules_.next_pulse() <= now) {
    deliver_rest(schedules_.next(), now);
    schedules_.begin_delivery(now);
  }
}

// Needs no memory if ready_ has room.
void Core::deliver(const Schedules::Delivery& delivery, Instant now) {
  Task& task = tasks_[delivery.task];
  // Also while the task runs: it is owed a run when that one ends (K3).
  task.delivered_due = earliest_due(task, delivery.pulse);
  if (task.delivered_due == no_instant && task.progress.served_until < latest_) {
    // The pulse is served, but it stands for all that have come. The clock was behind the record
    // and has jumped ahead, or a start served the pulse while it was under delivery.
    const auto next = schedules_.calendar().find_next(cron(task), task.progress.served_until);
    if (next && *next <= latest_) task.delivered_due = *next;
  }
  make_ready(delivery.task, now);
}

// Delivers the schedule's pulse to the tasks that it has not been delivered to.
void Core::deliver_rest(Schedules::Number schedule, Instant now) {
  while (true) {
    ready_.make_room();
    const auto delivery = schedules_.deliver_next_of(schedule);
    if (!delivery) return;
    deliver(*delivery, now);
  }
}

void Core::take_retries(Instant now) {
  while (!retries_.empty() && retries_.front().at <= now) {
    ready_.make_room();
    const Entry entry = retries_.pop();
    if (tasks_[entry.id].progress.retry_at == entry.at) make_ready(entry.id, now);
  }
}

// Returns whether ready_ has an entry. If so, nothing that is under delivery precedes its front.
bool Core::find_ready(Instant now) {
  while (schedules_.is_delivering() &&
         (ready_.empty() || schedules_.next_delivery().precedes(ready_.front()))) {
    ready_.make_room();
    if (const auto delivery = schedules_.deliver_next()) deliver(*delivery, now);
  }
  return !ready_.empty();
}

// Queues a task that is owed a run and does not run, unless it is queued at that place or earlier.
void Core::make_ready(TaskId id, Instant now) {
  Task& task = tasks_[id];
  if (!task.registered || task.progress.state == TaskState::running) return;
  const Instant since = pending(task, now).earliest();
  if (since == Instant::max()) return;
  if (task.queued_since != no_instant && task.queued_since <= since) return;
  task.queued_since = since;
  ready_.push({since, task.rank, id});
}

void Core::await_retry(TaskId id) {
  const Task& task = tasks_[id];
  retries_.push({task.progress.retry_at, task.rank, id});
  ++awaiting_retry_;
  // A retry that a pulse pre-empts leaves its entry behind.
  if (retries_.size() > 2 * awaiting_retry_ + 64) {
    retries_.compact(
        [this](const Entry& entry) { return tasks_[entry.id].progress.retry_at != entry.at; });
  }
}

Start Core::start(TaskId id, Instant now) {
  Task& task = tasks_[id];
  TaskProgress& progress = task.progress;
  std::string name = task.name;  // only this needs memory, so it precedes every change
  const Start::Before before{progress, due_since(task)};
  const Obligations pending = obligations_of(progress, before.due_since, now);
  const Reason reason = pending.reason();
  const Instant owed_since = pending.since(reason);
  Instant scheduled = owed_since;
  if (reason == Reason::orphan) {
    scheduled = progress.pulse;
  } else if (reason == Reason::boot) {
    // The beginning of the minute in which the task was registered first.
    scheduled = schedules_.calendar().find_previous(cron(task), owed_since).value_or(owed_since);
  }

  // A start clears every obligation (K2).
  if (progress.retry_at != no_instant) --awaiting_retry_;
  progress.state = TaskState::running;
  progress.boot_pending = false;
  progress.orphan_pending = false;
  progress.retry_at = no_instant;
  progress.last_attempt = now;
  // A start serves every pulse that has come, also by a clock that has been set back since (K3,
  // T6, T7).
  progress.served_until = std::max({progress.served_until, latest_, before.due_since});
  progress.fence = ++fence_;
  if (reason == Reason::cron || reason == Reason::boot) {
    // A task that was removed while it ran, and registered again in the same minute, does the same
    // work.
    const bool same_work = reason == Reason::boot && scheduled == progress.pulse;
    if (!same_work) take_up(progress, scheduled);
    progress.attempt = 0;
    progress.retries = 0;
  }
  if (progress.attempt != std::numeric_limits<std::uint32_t>::max()) {
    ++progress.attempt;
    if (reason == Reason::retry) ++progress.retries;
  }
  task.delivered_due = no_instant;
  task.queued_since = no_instant;
  ++running_;
  return {.task = id,
          .registration = task.registration,
          .name = std::move(name),
          .reason = reason,
          .preempts_retry = before.progress.retry_at != no_instant && reason != Reason::retry,
          .attempt = progress.attempt,
          .retries = progress.retries,
          .fence = progress.fence,
          .recurrence = progress.recurrence,
          .at = now,
          .pulse = progress.pulse,
          .scheduled = scheduled,
          .owed_since = owed_since,
          .served_before = before.progress.served_until,
          .served_until = progress.served_until,
          .before = before};
}

}  // namespace dutiful
