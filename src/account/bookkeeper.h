// Books the pulses that a start serves.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <dutiful/calendar.h>

#include "account/account.h"
#include "account/civil_day.h"
#include "account/waits.h"

namespace dutiful {

// The pulses that a start serves, and what the task and the scheduler did before it.
struct Service {
  Instant after;  // it serves the pulses after this,
  Instant until;  // up to and including this
  // The earliest of them; no_instant: there are none. If a boot start was pending, its pulse, which
  // is not one of them.
  Instant first;
  Fate fate_of_first;  // run, retry or orphan
  Instant ran_until;   // the end of the previous run; no_instant: there was none
  Instant down_until;  // when the scheduler began to run
  bool is_boot = false;
};

// What a start, or a correction of the clock, changes about the account of its task.
struct Booking {
  Account account;
  std::vector<AccountStretch> closed{};  // the stretches that have ended, which is rare
  PulseFates served{};                   // by this start alone
};

// The pulses in (after, until] count a second time, because the clock was set back to `after`.
void count_again(Account& account,
                 const Calendar& calendar,
                 const CronExpression& cron,
                 Instant after,
                 Instant until);

// Adds pulses to accounts. What that costs does not depend on how many they are.
class Bookkeeper {
 public:
  explicit Bookkeeper(Calendar calendar) : calendar_(std::move(calendar)) {}

  // Adds the pulses of a service. An account that has not begun begins with them.
  [[nodiscard]] Booking book(const Account& account,
                             const Service& service,
                             const CronExpression& cron,
                             const Waits& waits);

 private:
  [[nodiscard]] PulseFates fates(const Service& service,
                                 const CronExpression& cron,
                                 const Waits& waits,
                                 Instant after,
                                 Instant until);
  [[nodiscard]] bool is_last(const CronExpression& cron, Instant pulse, Instant until);
  [[nodiscard]] const CivilDay& day_of(Instant instant);

  Calendar calendar_;

  // The last answers: a million starts ask the same questions.
  CivilDay day_{};
  struct Next {
    CronExpression cron;
    Instant pulse;
    Instant next;  // the next one after it
  };
  std::optional<Next> next_;
};

}  // namespace dutiful
