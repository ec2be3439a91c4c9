#include "core/core.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/make_room.h"

namespace dutiful {
namespace {

template <typename Entry>
void push(std::vector<Entry>& heap, Entry entry) {
  heap.push_back(entry);
  std::push_heap(heap.begin(), heap.end());
}

template <typename Entry>
Entry pop(std::vector<Entry>& heap) {
  std::pop_heap(heap.begin(), heap.end());
  const Entry entry = heap.back();
  heap.pop_back();
  return entry;
}

// The obligations of RULES K2 that are pending, each with the instant since when; no_instant where
// it is not.
struct Obligations {
  Instant orphan, boot, retry, due;

  // Instant::max() where there is none.
  [[nodiscard]] Instant earliest() const {
    const auto or_never = [](Instant since) {
      return since == no_instant ? Instant::max() : since;
    };
    return std::min(std::min(or_never(orphan), or_never(boot)),
                    std::min(or_never(retry), or_never(due)));
  }
  [[nodiscard]] bool any() const { return earliest() != Instant::max(); }
};

Obligations obligations_of(const Core::Task& task, Instant now) {
  const TaskProgress& progress = task.progress;
  const bool retry_due = progress.retry_at != no_instant && progress.retry_at <= now;
  return {.orphan = progress.orphan_pending ? progress.last_attempt : no_instant,
          .boot = progress.boot_pending ? progress.first_coming : no_instant,
          .retry = retry_due ? progress.retry_at : no_instant,
          .due = task.due_since};
}

// The newest run is for another pulse than those before. Pulses only grow, so keys are unique (P8);
// but after a clock was corrected (T7), pulses up to the latest one come again.
void take_up(TaskProgress& progress, Instant pulse) {
  if (pulse <= progress.pulse) {
    progress.recurs_until = std::max(progress.recurs_until, progress.pulse);
  }
  progress.pulse = pulse;
  progress.recurrence = pulse <= progress.recurs_until ? progress.fence : 0;
}

}  // namespace

Core::Core(Calendar calendar, std::size_t max_concurrent)
    : calendar_(std::move(calendar)), max_concurrent_(max_concurrent) {}

void Core::carry_runs(Plan& plan) const {
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
  // Copies of the names: the tasks they stand in move while the list is built.
  std::unordered_map<std::string, TaskId> known;
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    Task& task = tasks_[id];
    if (!task.in_use) continue;
    task.registered = false;
    task.due_since = no_instant;
    task.queued_since = no_instant;
    if (task.progress.state == TaskState::running) {
      known.emplace(task.name, id);
    } else {
      task.in_use = false;
      free_.push_back(id);
    }
  }
  schedules_.clear();
  pulses_.clear();
  telling_.clear();
  retries_.clear();
  ready_.clear();
  awaiting_retry_ = 0;

  std::unordered_map<std::string_view, std::uint32_t> interned;  // by the texts of the plan
  // The newest answer of the calendar for each schedule: many tasks ask the same question.
  struct Due {
    Instant after;
    std::optional<Instant> at;
  };
  std::vector<Due> due_of;
  tasks_.reserve(tasks_.size() - free_.size() + plan.tasks.size());
  std::uint32_t rank = 0;
  for (const PlannedTask& planned : plan.tasks) {
    TaskId id = 0;
    const auto running = known.find(planned.config.name);
    if (running != known.end()) {
      id = running->second;
    } else if (!free_.empty()) {
      id = free_.back();
      free_.pop_back();
    } else {
      id = static_cast<TaskId>(tasks_.size());
      tasks_.emplace_back();
    }

    Task& task = tasks_[id];
    const TaskProgress& progress = planned.progress;
    const auto [place, is_new] =
        interned.try_emplace(planned.config.cron, static_cast<std::uint32_t>(schedules_.size()));
    if (is_new) {
      schedules_.push_back({.text = planned.config.cron, .cron = planned.schedule, .tasks = {}});
      due_of.push_back(
          {progress.served_until, calendar_.find_next(planned.schedule, progress.served_until)});
    }
    task = Task{.name = planned.config.name,
                .retry_delay = planned.config.retry_delay,
                .progress = progress,
                .registration = planned.config.registration,
                .schedule = place->second,
                .rank = rank,
                .registered = true,
                .in_use = true};
    schedules_[task.schedule].tasks.push_back(id);

    Due& due = due_of[task.schedule];
    if (due.after != progress.served_until) {
      due = {progress.served_until, calendar_.find_next(planned.schedule, progress.served_until)};
    }
    if (due.at && *due.at <= now) task.due_since = *due.at;
    if (progress.retry_at != no_instant) await_retry(id);
    make_ready(id, now);
    ++rank;
  }
  for (std::uint32_t number = 0; number < schedules_.size(); ++number) await_pulse(number, now);
  latest_ = now;
  fence_ = std::max(fence_, plan.fence);
}

void Core::place(const std::vector<std::int64_t>& rows) noexcept {
  for (Task& task : tasks_) {
    if (task.registered) task.row = rows[task.rank];
  }
}

void Core::end(TaskId id, Outcome outcome, Instant now) {
  make_room(retries_);
  make_room(ready_);
  make_room(free_);
  Task& task = tasks_[id];
  --running_;
  if (outcome == Outcome::success) {
    task.progress.state = TaskState::awaiting_run;
    task.progress.last_success = now;
  } else {
    task.progress.state = TaskState::awaiting_retry;
    task.progress.last_failure = now;
    task.progress.retry_at = later(now, task.retry_delay);
  }
  if (!task.registered) {
    task.in_use = false;
    free_.push_back(id);
    return;
  }
  if (outcome == Outcome::failure) await_retry(id);
  make_ready(id, now);
}

void Core::postpone_end(TaskId id, Instant now) {
  make_room(retries_);
  Task& task = tasks_[id];
  if (!task.registered) return;
  if (task.progress.state != TaskState::awaiting_retry) {
    task.progress.last_success = now;
    return;
  }
  --awaiting_retry_;
  task.progress.last_failure = now;
  task.progress.retry_at = later(now, task.retry_delay);
  await_retry(id);
}

void Core::follow_clock(Instant now, std::vector<ClockCorrection>& corrections) {
  if (now + clock_ahead_max >= latest_) return;
  corrections.reserve(corrections.size() + tasks_.size());  // nothing is corrected and then lost
  for (Schedule& schedule : schedules_) tell_rest(schedule, now);  // by the clock before
  telling_.clear();
  for (TaskId id = 0; id < tasks_.size(); ++id) {
    if (!tasks_[id].registered) continue;
    const Instant persisted = correct_clock(tasks_[id].progress, now);
    if (persisted != no_instant) corrections.push_back({id, persisted});
    // A pulse that only the clock before had reached comes again.
    if (tasks_[id].due_since > now) tasks_[id].due_since = no_instant;
  }
  pulses_.clear();
  for (std::uint32_t number = 0; number < schedules_.size(); ++number) await_pulse(number, now);
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
      make_room(retries_);
      make_room(ready_, starts.size() + 1);  // for undo()
      const Entry entry = ready_.front();
      Task& task = tasks_[entry.id];
      if (task.queued_since == entry.at) {
        if (obligations_of(task, now).any()) {
          starts.push_back(start(entry.id, now));
        } else {
          // The clock was set back while it waited: its pulse or its retry is not due any more.
          task.queued_since = no_instant;
          if (task.progress.retry_at != no_instant) {
            push(retries_, Entry{task.progress.retry_at, task.rank, entry.id});
          }
        }
      }
      (void)pop(ready_);  // after start(), which may run out of memory
    }
  } catch (...) {
    undo(starts);
    throw;
  }
  return starts;
}

// How many tasks start_due() can start at the most.
std::size_t Core::startable(std::size_t limit) const {
  if (at_capacity()) return 0;
  std::size_t startable = ready_.size();
  for (const Entry& entry : telling_) {
    const Schedule& schedule = schedules_[entry.id];
    if (schedule.pulse == entry.at) startable += schedule.tasks.size() - schedule.told;
  }
  if (max_concurrent_ != 0) limit = std::min(limit, max_concurrent_ - running_);
  return std::min(limit, startable);
}

void Core::undo(const std::vector<Start>& starts) noexcept {
  for (const Start& undone : starts) {
    Task& task = tasks_[undone.task];
    --running_;
    task.progress = undone.before.progress;
    task.due_since = undone.before.due_since;
    // It is made ready again below. There is room for that: start_due() has seen to it.
    if (task.progress.retry_at != no_instant) ++awaiting_retry_;
    make_ready(undone.task, undone.at);
  }
}

Instant Core::next_wake() const {
  if (!(ready_.empty() && telling_.empty()) && !at_capacity()) return no_instant;
  Instant wake = Instant::max();
  if (!pulses_.empty()) wake = std::min(wake, pulses_.front().at);
  if (!retries_.empty()) wake = std::min(wake, retries_.front().at);
  return wake;
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
                              .scheduler = {}});
  }
  return stored;
}

void Core::await_pulse(std::uint32_t number, Instant now) {
  const auto next = calendar_.find_next(schedules_[number].cron, now);
  if (next) push(pulses_, Entry{*next, 0, number});  // else never due (C5)
}

void Core::take_pulses(Instant now) {
  while (!pulses_.empty() && pulses_.front().at <= now) {
    const std::uint32_t number = pulses_.front().id;
    Schedule& schedule = schedules_[number];
    tell_rest(schedule, now);
    make_room(telling_);
    const Entry entry = pop(pulses_);
    schedule.pulse = entry.at;
    schedule.told = 0;
    push(telling_, Entry{entry.at, tasks_[schedule.tasks.front()].rank, number});
    await_pulse(number, now);
  }
  // Of pulses that were told in one go the entries are left. Sweep before they outnumber the rest.
  if (telling_.size() > 2 * schedules_.size()) {
    std::erase_if(telling_,
                  [this](const Entry& entry) { return schedules_[entry.id].pulse != entry.at; });
    std::make_heap(telling_.begin(), telling_.end());
  }
}

// A task that was not told of its pulse yet is due since then all the same.
Instant Core::due_since(const Task& task) const {
  const Instant pulse = schedules_[task.schedule].pulse;
  // A pulse at or before the last start is served (T7); an earlier one may be owed already.
  if (task.due_since != no_instant || pulse <= task.progress.served_until) return task.due_since;
  return pulse;
}

void Core::tell(TaskId id, Instant now) {
  Task& task = tasks_[id];
  task.due_since = due_since(task);  // also where it runs: it will be owed a run when that ends
  make_ready(id, now);
}

// Tells one task, the first of all, of its pulse.
void Core::tell_next(Instant now) {
  make_room(ready_);
  const Entry entry = pop(telling_);
  Schedule& schedule = schedules_[entry.id];
  if (schedule.pulse != entry.at) return;
  const TaskId id = schedule.tasks[schedule.told++];
  tell(id, now);
  if (schedule.told < schedule.tasks.size()) {
    push(telling_, Entry{entry.at, tasks_[schedule.tasks[schedule.told]].rank, entry.id});
  } else {
    schedule.pulse = no_instant;
  }
}

// Tells the tasks of a schedule that were not yet told of its pulse, for the next one has come.
void Core::tell_rest(Schedule& schedule, Instant now) {
  if (schedule.pulse == no_instant) return;
  make_room(ready_, schedule.tasks.size() - schedule.told);
  for (; schedule.told < schedule.tasks.size(); ++schedule.told) {
    tell(schedule.tasks[schedule.told], now);
  }
  schedule.pulse = no_instant;
}

// Says whether ready_ has an entry, and then its first is the first of all.
bool Core::find_ready(Instant now) {
  while (!telling_.empty() && (ready_.empty() || ready_.front() < telling_.front())) tell_next(now);
  return !ready_.empty();
}

void Core::take_retries(Instant now) {
  while (!retries_.empty() && retries_.front().at <= now) {
    make_room(ready_);
    const Entry entry = pop(retries_);
    if (tasks_[entry.id].progress.retry_at == entry.at) make_ready(entry.id, now);
  }
}

// Queues a task that is owed a run and does not run, unless it is queued for as long already.
void Core::make_ready(TaskId id, Instant now) {
  Task& task = tasks_[id];
  if (!task.registered || task.progress.state == TaskState::running) return;
  task.due_since = due_since(task);
  const Instant since = obligations_of(task, now).earliest();
  if (since == Instant::max()) return;
  if (task.queued_since != no_instant && task.queued_since <= since) return;
  task.queued_since = since;
  push(ready_, Entry{since, task.rank, id});
}

void Core::await_retry(TaskId id) {
  const Task& task = tasks_[id];
  push(retries_, Entry{task.progress.retry_at, task.rank, id});
  ++awaiting_retry_;
  // A retry that a pulse pre-empts leaves its entry behind. Sweep before they outnumber the rest.
  if (retries_.size() > 2 * awaiting_retry_ + 64) {
    std::erase_if(retries_, [this](const Entry& entry) {
      return tasks_[entry.id].progress.retry_at != entry.at;
    });
    std::make_heap(retries_.begin(), retries_.end());
  }
}

Start Core::start(TaskId id, Instant now) {
  Task& task = tasks_[id];
  TaskProgress& progress = task.progress;
  std::string name = task.name;  // all that needs memory, so nothing has changed before it
  task.due_since = due_since(task);
  const Start::Before before{progress, task.due_since};
  const Obligations pending = obligations_of(task, now);
  Reason reason = Reason::cron;
  Instant owed_since = pending.due;
  Instant scheduled = pending.due;
  if (pending.orphan != no_instant) {
    reason = Reason::orphan;
    owed_since = pending.orphan;
    scheduled = progress.pulse;
  } else if (pending.boot != no_instant) {
    reason = Reason::boot;
    owed_since = pending.boot;
    // The minute it came in, from its beginning.
    const CronExpression& cron = schedules_[task.schedule].cron;
    scheduled = calendar_.find_previous(cron, pending.boot).value_or(pending.boot);
  } else if (pending.retry != no_instant &&
             (pending.due == no_instant || pending.retry <= pending.due)) {
    reason = Reason::retry;
    owed_since = pending.retry;
    scheduled = pending.retry;
  }

  // A start clears every obligation (K2).
  if (progress.retry_at != no_instant) --awaiting_retry_;
  progress.state = TaskState::running;
  progress.boot_pending = false;
  progress.orphan_pending = false;
  progress.retry_at = no_instant;
  progress.last_attempt = now;
  // The clock may have been set back: a start is for every pulse that has come, also where that was
  // later by the clock before (T6, T7).
  progress.served_until = std::max({progress.served_until, latest_, task.due_since});
  progress.fence = ++fence_;
  if (reason == Reason::cron || reason == Reason::boot) {
    // A name that was removed while it ran, and came back in the same minute, does the same work.
    const bool same_work = reason == Reason::boot && scheduled == progress.pulse;
    if (!same_work) take_up(progress, scheduled);
    progress.attempt = 0;
    progress.retries = 0;
  }
  if (progress.attempt != std::numeric_limits<std::uint32_t>::max()) {
    ++progress.attempt;
    if (reason == Reason::retry) ++progress.retries;
  }
  task.due_since = no_instant;
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
