// The schedules of the registered tasks, and the pulses that are being delivered to these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>

#include "core/entry_queue.h"
#include "core/task.h"

namespace dutiful {

// The number of a task in the core: the same while the task is registered or runs.
using TaskId = std::uint32_t;

// A minute in which nothing is due costs nothing, however many tasks there are, because each
// schedule is kept once, with its next pulse. A pulse is delivered to one task after another, in
// the order of all deliveries: the first of a million starts as soon as the only one would.
class Schedules {
 public:
  using Number = std::uint32_t;

  struct Delivery {
    TaskId task;
    Instant pulse;

    friend bool operator==(const Delivery&, const Delivery&) = default;
  };

  explicit Schedules(Calendar calendar) : calendar_(std::move(calendar)) {}

  void clear();
  Number add(const std::string& text, const CronExpression& cron);
  // Tasks are added in the order of their ranks.
  void add_task(Number number, TaskId task, std::uint32_t rank);

  [[nodiscard]] const std::string& text(Number number) const { return schedules_[number].text; }
  [[nodiscard]] const CronExpression& cron(Number number) const { return schedules_[number].cron; }
  [[nodiscard]] Number size() const { return static_cast<Number>(schedules_.size()); }
  [[nodiscard]] const Calendar& calendar() const { return calendar_; }

  // Expects the pulses after `now`, and no others. No pulse may be under delivery.
  void await_pulses(Instant now);

  // The next pulse of all schedules; Instant::max(): there is none.
  [[nodiscard]] Instant next_pulse() const;
  // Whose it is. Requires that there is one.
  [[nodiscard]] Number next() const { return pulses_.front().id; }
  // Begins to deliver it, and expects the next one after `now`. Requires that the pulse before it
  // has been delivered. If memory runs out, nothing changes.
  void begin_delivery(Instant now);

  // The pulse of the schedule that is under delivery; no_instant: none.
  [[nodiscard]] Instant under_delivery(Number number) const { return schedules_[number].pulse; }

  // The next task of that schedule that its pulse has not been delivered to, if any.
  [[nodiscard]] std::optional<Delivery> deliver_next_of(Number number);

  [[nodiscard]] bool is_delivering() const { return !deliveries_.empty(); }
  // The place of the next delivery of all schedules, which may be stale. Requires is_delivering().
  [[nodiscard]] const Entry& next_delivery() const { return deliveries_.front(); }
  // That delivery, unless it is stale.
  [[nodiscard]] std::optional<Delivery> deliver_next();

  // How many tasks have a delivery to come.
  [[nodiscard]] std::size_t undelivered() const { return undelivered_; }

  // Entries in both queues, stale ones included.
  [[nodiscard]] std::size_t queued() const { return pulses_.size() + deliveries_.size(); }

 private:
  struct Member {
    TaskId task;
    std::uint32_t rank;
  };
  struct Schedule {
    std::string text;
    CronExpression cron;
    std::vector<Member> members{};  // by rank
    Instant pulse = no_instant;     // the one under delivery; no_instant: none
    std::size_t delivered = 0;      // how many members have it
  };

  void await_pulse(Number number, Instant now);
  [[nodiscard]] Delivery take_delivery(Schedule& schedule);

  Calendar calendar_;
  std::vector<Schedule> schedules_;
  EntryQueue pulses_;  // one entry for each schedule, which is its id
  // One entry for each schedule with a pulse under delivery, with the rank of the member that is
  // next. Stale if the schedule's pulse is another.
  EntryQueue deliveries_;
  std::size_t undelivered_ = 0;
};

}  // namespace dutiful
