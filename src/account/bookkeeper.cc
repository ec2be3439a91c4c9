#include "account/bookkeeper.h"

#include <algorithm>

#include "time/clock_range.h"

namespace dutiful {

void count_again(Account& account,
                 const Calendar& calendar,
                 const CronExpression& cron,
                 Instant after,
                 Instant until) {
  if (account.from == no_instant) return;
  // What is earlier than the account was not counted the first time.
  const bool is_first_stretch = account.number == 0;
  const Instant counted_after =
      is_first_stretch ? std::max(after, account.from - Duration{1}) : after;
  account.recurred += calendar.count(cron, counted_after, until);
  account.from = std::min(account.from, later(after, Duration{1}));
}

const CivilDay& Bookkeeper::day_of(Instant instant) {
  if (!day_.contains(instant)) day_ = civil_day(calendar_.zone(), instant);
  return day_;
}

// Whether no other pulse follows that one, up to `until`.
bool Bookkeeper::is_last(const CronExpression& cron, Instant pulse, Instant until) {
  if (!next_ || next_->pulse != pulse || next_->cron != cron) {
    next_ = Next{cron, pulse, calendar_.find_next(cron, pulse).value_or(Instant::max())};
  }
  return next_->next > until;
}

Booking Bookkeeper::book(const Account& account,
                         const Service& service,
                         const CronExpression& cron,
                         const Waits& waits) {
  Booking booking{.account = account};
  if (service.first == no_instant) return booking;
  Account& open = booking.account;
  // Almost every start serves one pulse, of today, and an earlier one has begun the day.
  if (!service.is_boot && open.from <= service.first && day_of(service.until).begin <= open.from &&
      is_last(cron, service.first, service.until)) {
    ++open.fates.of(service.fate_of_first);
    ++booking.served.of(service.fate_of_first);
    return booking;
  }
  if (open.from == no_instant)
    open.from = service.is_boot ? service.first : later(service.after, Duration{1});

  const auto add = [&](const PulseFates& fates) {
    open.fates += fates;
    booking.served += fates;
  };
  const auto close = [&](Instant until) {
    booking.closed.push_back({open, until});
    open = {.from = until, .number = open.number + 1};
  };
  // If the account began after the pulse of a boot start, nothing is known about that minute.
  if (service.is_boot && service.first >= open.from) {
    PulseFates boot;
    ++boot.of(service.fate_of_first);
    add(boot);
  }

  Instant after = service.after;
  const CivilDay today = day_of(service.until);
  if (open.from < today.begin) {
    const Instant first_end = civil_day(calendar_.zone(), open.from).end;
    const Instant before_today = today.begin - Duration{1};
    add(fates(service, cron, waits, after, first_end - Duration{1}));
    after = std::max(after, first_end - Duration{1});
    const PulseFates between = fates(service, cron, waits, after, before_today);
    if (between.total() > 0) {
      close(first_end);
      add(between);
    }
    close(today.begin);
    after = std::max(after, before_today);
  }
  add(fates(service, cron, waits, after, service.until));
  return booking;
}

// Of the pulses of the service in (after, until].
PulseFates Bookkeeper::fates(const Service& service,
                             const CronExpression& cron,
                             const Waits& waits,
                             Instant after,
                             Instant until) {
  PulseFates fates;
  if (!service.is_boot && after < service.first && service.first <= until) {
    fates.of(service.fate_of_first) = 1;
    after = service.first;
  }
  const auto add = [&](Instant from, Instant to, Fate fate) {
    if (from < to) fates.of(fate) += calendar_.count(cron, from, to);
  };
  const auto add_until = [&](Instant end, Fate fate) {
    const Instant to = std::min(until, end);
    add(after, to, fate);
    after = std::max(after, to);
  };
  add_until(service.ran_until, Fate::running);
  add_until(service.down_until, Fate::down);
  waits.for_each(after, until, add);
  return fates;
}

}  // namespace dutiful
