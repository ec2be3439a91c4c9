#include "core/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "core/by_name.h"

namespace dutiful {
namespace {

// Whether the civil minute that contains `now` is a pulse of the schedule (RULES K2, boot).
bool pulses_in_this_minute(const CronExpression& schedule, Instant now, const Calendar& calendar) {
  const auto previous = calendar.find_previous(schedule, now);
  if (!previous) return false;
  const Duration local = now.time_since_epoch() + calendar.zone().offset_at(now);
  const Duration since_minute = local - std::chrono::floor<std::chrono::minutes>(local);
  return *previous == now - since_minute;
}

// A parsed expression at one instant. Consecutive tasks often have the same expression.
struct Timing {
  explicit Timing(const std::string& cron) : text(cron), schedule(CronExpression::parse(cron)) {}

  [[nodiscard]] TaskProgress first_coming(Instant now, const Calendar& calendar) {
    if (!pulses_now) pulses_now = pulses_in_this_minute(schedule, now, calendar);
    return {.boot_pending = *pulses_now, .first_coming = now, .served_until = now};
  }

  std::string text;
  CronExpression schedule;
  std::optional<bool> pulses_now{};
};

}  // namespace

void keep_running(TaskProgress& progress, const TaskProgress& before) {
  progress.state = TaskState::running;
  progress.attempt = before.attempt;
  progress.retries = before.retries;
  progress.fence = before.fence;
  progress.recurrence = before.recurrence;
  progress.recurs_until = before.recurs_until;
  progress.pulse = before.pulse;
  progress.last_attempt = before.last_attempt;
}

Instant correct_clock(TaskProgress& progress, Instant now) {
  if (progress.served_until <= now + clock_ahead_max) return no_instant;
  return std::exchange(progress.served_until, now);
}

Plan make_plan(std::vector<TaskConfig> list,
               StoredState stored,
               Instant now,
               const Calendar& calendar,
               Override override,
               Runs runs) {
  std::vector<TaskRecord>& records = stored.records;
  const auto order =
      order_by_name(list, [](const TaskConfig& config) -> std::string_view { return config.name; });
  const auto record_order = order_by_name(
      records, [](const TaskRecord& record) -> std::string_view { return record.config.name; });

  Plan plan;
  plan.fence = stored.fence;
  for (const TaskRecord& record : records) {
    plan.fence = std::max(plan.fence, record.progress.fence);
  }
  plan.tasks.reserve(list.size());
  auto next_record = record_order.begin();
  std::optional<Timing> timing;
  for (const std::uint32_t place : order) {
    TaskConfig& config = list[place];
    for (; next_record != record_order.end() && records[*next_record].config.name < config.name;
         ++next_record) {
      plan.removed.push_back(std::move(records[*next_record]));
    }
    if (!timing || timing->text != config.cron) timing.emplace(config.cron);
    PlannedTask task{.config = std::move(config),
                     .schedule = timing->schedule,
                     .progress = {},
                     .classification = Classification::added};

    TaskRecord* const record = next_record == record_order.end() ? nullptr : &records[*next_record];
    const bool known = record != nullptr && record->config.name == task.config.name;
    if (!known) {
      task.progress = timing->first_coming(now, calendar);
    } else {
      task.row = record->row;
      task.progress = record->progress;
      task.classification =
          record->config == task.config ? Classification::preserved : Classification::overridden;
      const bool was_running = record->progress.state == TaskState::running;
      if (task.classification == Classification::overridden &&
          override == Override::reset_history) {
        task.progress = timing->first_coming(now, calendar);
        // Keys that were used by a clock that was ahead must not be used again (P8).
        task.progress.recurs_until = record->progress.recurs_until;
        if (record->progress.pulse > now) {
          task.progress.recurs_until = std::max(task.progress.recurs_until, record->progress.pulse);
        }
        if (was_running && runs == Runs::go_on) keep_running(task.progress, record->progress);
      } else if (was_running && runs == Runs::are_interrupted) {
        task.orphaned = true;
        task.progress.state = TaskState::awaiting_run;
        task.progress.orphan_pending = true;
      }
    }

    task.corrected_from = correct_clock(task.progress, now);
    if (known) {
      task.changed = task.progress != record->progress;
      if (task.orphaned || task.classification == Classification::overridden) {
        task.before = std::make_unique<const TaskRecord>(std::move(*record));
      }
      ++next_record;
    }
    plan.tasks.push_back(std::move(task));
  }
  for (; next_record != record_order.end(); ++next_record) {
    plan.removed.push_back(std::move(records[*next_record]));
  }
  return plan;
}

}  // namespace dutiful
