#include "theory/pulses.h"

namespace dutiful::theory {

Pulses::Pulses(const Zone& zone, RepeatedMinutes repeated_minutes)
    : calendar_(zone, repeated_minutes),
      minutes_(zone, RepeatedMinutes::both),
      every_minute_(CronExpression::parse("* * * * *")) {}

bool Pulses::mountain_due(const CronExpression& cron, Instant at) const {
  const auto due = calendar_.find_previous(cron, at);
  return due && due == minutes_.find_previous(every_minute_, at);
}

void Pulses::clear_schedules() {
  for (Schedule& schedule : schedules_) {
    for (Task* task : schedule.waiting) task->awaits_pulse = false;
  }
  queue_.clear();
  by_text_.clear();
  schedules_.clear();
}

Schedule* Pulses::schedule(const std::string& cron) {
  const auto [place, is_new] = by_text_.try_emplace(cron, nullptr);
  if (is_new) {
    if (const auto parsed = CronExpression::try_parse(cron)) {
      schedules_.push_back(Schedule{.cron = *parsed});
      place->second = &schedules_.back();
    }
  }
  return place->second;
}

void Pulses::await_due(Task& task, Instant now) {
  if (task.awaits_pulse || task.schedule == nullptr) return;
  Schedule& schedule = *task.schedule;
  if (schedule.waiting.empty()) {
    const auto next = next_due(schedule.cron, now);
    if (!next) return;
    schedule.next = *next;
    queue_.insert({schedule.next, &schedule});
  }
  task.awaits_pulse = true;
  schedule.waiting.push_back(&task);
}

void Pulses::await_retry(Task& task) {
  retries_.insert({*task.retry_at(), &task});
}

void Pulses::cancel_retry(Task& task) {
  if (task.retry_at()) retries_.erase({*task.retry_at(), &task});
}

}  // namespace dutiful::theory
