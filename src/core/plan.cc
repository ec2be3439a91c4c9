#include "core/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "account/bookkeeper.h"
#include "core/by_name.h"
#include "core/ends.h"

namespace dutiful {
namespace {

// The civil minute that contains `now`, if it is a pulse of the schedule (RULES K2, boot).
std::optional<Instant> pulse_of_this_minute(const CronExpression& schedule,
                                            Instant now,
                                            const Calendar& calendar) {
  const Duration local = now.time_since_epoch() + calendar.zone().offset_at(now);
  const Duration since_minute = local - std::chrono::floor<std::chrono::minutes>(local);
  const auto previous = calendar.find_previous(schedule, now);
  return previous == now - since_minute ? previous : std::nullopt;
}

// A parsed expression at one instant. Consecutive tasks often have the same expression.
struct Timing {
  explicit Timing(const std::string& cron) : text(cron), schedule(CronExpression::parse(cron)) {}

  // The task is registered for the first time.
  void introduce(PlannedTask& task, Instant now, const Calendar& calendar) {
    if (!is_pulse_known) pulse = pulse_of_this_minute(schedule, now, calendar);
    is_pulse_known = true;
    task.progress = {.boot_pending = pulse.has_value(), .first_coming = now, .served_until = now};
    task.account = {.from = pulse.value_or(now)};
  }

  std::string text;
  CronExpression schedule;
  std::optional<Instant> pulse{};  // the one of this minute
  bool is_pulse_known = false;
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
      timing->introduce(task, now, calendar);
    } else {
      task.row = record->row;
      task.progress = record->progress;
      task.account = record->account;
      task.classification =
          record->config == task.config ? Classification::preserved : Classification::overridden;
      const bool was_running = record->progress.state == TaskState::running;
      if (task.classification == Classification::overridden &&
          override == Override::reset_history) {
        timing->introduce(task, now, calendar);
        task.forgets_account = true;
        // Keys that were used by a clock that was ahead must not be used again (P8).
        task.progress.recurs_until = record->progress.recurs_until;
        if (record->progress.pulse > now) {
          task.progress.recurs_until = std::max(task.progress.recurs_until, record->progress.pulse);
        }
        if (was_running && runs == Runs::go_on) keep_running(task.progress, record->progress);
      } else if (was_running && runs == Runs::are_interrupted) {
        task.orphaned = true;
        interrupt(task.progress);
      }
    }

    // The state of an earlier version has no account.
    if (task.account.from == no_instant && task.progress.served_until != no_instant) {
      task.account.from = later(task.progress.served_until, Duration{1});
    }
    task.corrected_from = correct_clock(task.progress, now);
    if (task.corrected_from != no_instant) {
      count_again(task.account, calendar, task.schedule, now, task.corrected_from);
    }
    if (known) {
      task.changed = task.progress != record->progress || task.forgets_account;
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
