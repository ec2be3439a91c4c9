#include "core/plan.h"

#include <algorithm>
#include <utility>

namespace dutiful {
namespace {

// Whether the civil minute that holds `now` pulses for the schedule (RULES K2, boot).
bool pulses_in_this_minute(const CronExpression& schedule, Instant now, const Calendar& calendar) {
  const auto previous = calendar.find_previous(schedule, now);
  if (!previous) return false;
  const Duration local = now.time_since_epoch() + calendar.zone().offset_at(now);
  const Duration since_minute = local - std::chrono::floor<std::chrono::minutes>(local);
  return *previous == now - since_minute;
}

TaskProgress first_coming(const CronExpression& schedule, Instant now, const Calendar& calendar) {
  return {.boot_pending = pulses_in_this_minute(schedule, now, calendar),
          .first_coming = now,
          .served_until = now};
}

}  // namespace

void keep_running(TaskProgress& progress, const TaskProgress& before) {
  progress.state = TaskState::running;
  progress.attempt = before.attempt;
  progress.pulse = before.pulse;
  progress.last_attempt = before.last_attempt;
}

Instant correct_clock(TaskProgress& progress, Instant now) {
  if (progress.served_until <= now + clock_ahead_max) return no_instant;
  return std::exchange(progress.served_until, now);
}

Plan make_plan(std::vector<TaskConfig> list,
               std::vector<TaskRecord> records,
               Instant now,
               const Calendar& calendar,
               Override override,
               Runs runs) {
  std::ranges::sort(list, {}, &TaskConfig::name);
  std::ranges::sort(
      records, {}, [](const TaskRecord& r) -> const std::string& { return r.config.name; });

  Plan plan;
  plan.tasks.reserve(list.size());
  auto record = records.begin();
  for (TaskConfig& config : list) {
    for (; record != records.end() && record->config.name < config.name; ++record) {
      plan.removed.push_back(std::move(*record));
    }
    const auto schedule = CronExpression::parse(config.cron);
    PlannedTask task{.config = std::move(config),
                     .schedule = schedule,
                     .progress = {},
                     .classification = Classification::added};

    const bool known = record != records.end() && record->config.name == task.config.name;
    if (!known) {
      task.progress = first_coming(schedule, now, calendar);
    } else {
      task.row = record->row;
      task.progress = record->progress;
      task.classification =
          record->config == task.config ? Classification::preserved : Classification::overridden;
      const bool was_running = record->progress.state == TaskState::running;
      if (task.classification == Classification::overridden &&
          override == Override::reset_history) {
        task.progress = first_coming(schedule, now, calendar);
        if (was_running && runs == Runs::go_on) keep_running(task.progress, record->progress);
      } else if (was_running && runs == Runs::are_interrupted) {
        task.orphaned = true;
        task.progress.state = TaskState::awaiting_run;
        task.progress.orphan_pending = true;
      }
      task.scheduler = std::move(record->scheduler);
      task.old_config = std::move(record->config);
    }

    task.corrected_from = correct_clock(task.progress, now);
    if (known) task.changed = task.progress != (record++)->progress;
    plan.tasks.push_back(std::move(task));
  }
  std::move(record, records.end(), std::back_inserter(plan.removed));
  return plan;
}

}  // namespace dutiful
