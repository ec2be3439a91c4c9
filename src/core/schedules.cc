#include "core/schedules.h"

namespace dutiful {

void Schedules::clear() {
  schedules_.clear();
  pulses_.clear();
  deliveries_.clear();
  undelivered_ = 0;
}

Schedules::Number Schedules::add(const std::string& text, const CronExpression& cron) {
  schedules_.push_back({.text = text, .cron = cron});
  return size() - 1;
}

void Schedules::add_task(Number number, TaskId task, std::uint32_t rank) {
  schedules_[number].members.push_back({task, rank});
}

void Schedules::await_pulses(Instant now) {
  pulses_.clear();
  deliveries_.clear();
  for (Number number = 0; number < size(); ++number) await_pulse(number, now);
}

void Schedules::await_pulse(Number number, Instant now) {
  const auto next = calendar_.find_next(schedules_[number].cron, now);
  if (next) pulses_.push({*next, 0, number});  // otherwise never due again (C5)
}

Instant Schedules::next_pulse() const {
  return pulses_.empty() ? Instant::max() : pulses_.front().at;
}

void Schedules::begin_delivery(Instant now) {
  deliveries_.make_room();
  const Entry entry = pulses_.pop();
  Schedule& schedule = schedules_[entry.id];
  schedule.pulse = entry.at;
  schedule.delivered = 0;
  undelivered_ += schedule.members.size();
  deliveries_.push({entry.at, schedule.members.front().rank, entry.id});
  await_pulse(entry.id, now);
  // A pulse that was delivered by deliver_next_of() leaves its entry behind.
  if (deliveries_.size() > 2 * schedules_.size()) {
    deliveries_.compact(
        [this](const Entry& delivery) { return under_delivery(delivery.id) != delivery.at; });
  }
}

std::optional<Schedules::Delivery> Schedules::deliver_next_of(Number number) {
  Schedule& schedule = schedules_[number];
  if (schedule.pulse == no_instant) return std::nullopt;
  return take_delivery(schedule);
}

std::optional<Schedules::Delivery> Schedules::deliver_next() {
  const Entry entry = deliveries_.pop();
  Schedule& schedule = schedules_[entry.id];
  if (schedule.pulse != entry.at) return std::nullopt;
  const Delivery delivery = take_delivery(schedule);
  if (schedule.pulse != no_instant) {
    deliveries_.push({entry.at, schedule.members[schedule.delivered].rank, entry.id});
  }
  return delivery;
}

Schedules::Delivery Schedules::take_delivery(Schedule& schedule) {
  const Delivery delivery{schedule.members[schedule.delivered++].task, schedule.pulse};
  --undelivered_;
  if (schedule.delivered == schedule.members.size()) schedule.pulse = no_instant;
  return delivery;
}

}  // namespace dutiful
