#include "account/bookkeeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const CronExpression every_minute = CronExpression::parse("* * * * *");
const CronExpression hourly = CronExpression::parse("0 * * * *");

struct BookkeeperTest : testing::Test {
  Calendar calendar{Zone::load("America/New_York")};
  Bookkeeper books{calendar};
  Waits waits;
  Account account{.from = at("2025-03-03T05:00:00Z")};  // a midnight of New York

  // A start at `until`, for the earliest of the pulses after `after`.
  Service cron_start(const char* after, const char* until, const CronExpression& cron) {
    return {.after = at(after),
            .until = at(until),
            .first = calendar.next(cron, at(after)),
            .fate_of_first = Fate::run,
            .ran_until = no_instant,
            .down_until = no_instant};
  }
};

TEST_F(BookkeeperTest, counts_a_pulse_that_is_run) {
  const Booking booking =
      books.book(account,
                 cron_start("2025-03-03T10:00:00Z", "2025-03-03T11:00:00.007Z", hourly),
                 hourly,
                 waits);
  EXPECT_EQ(booking.account.fates, PulseFates{.run = 1});
  EXPECT_EQ(booking.served, PulseFates{.run = 1});
  EXPECT_EQ(booking.account.from, account.from);
  EXPECT_THAT(booking.closed, IsEmpty());
}

// T6: the start is for the earliest pulse, and serves the others.
TEST_F(BookkeeperTest, says_why_each_other_pulse_has_no_run_of_its_own) {
  Service service = cron_start("2025-03-03T10:00:00Z", "2025-03-03T10:20:00Z", every_minute);
  service.ran_until = at("2025-03-03T10:04:30Z");
  service.down_until = at("2025-03-03T10:07:30Z");
  waits.note(Fate::limit, at("2025-03-03T10:10:00Z"));
  waits.note(Fate::store, at("2025-03-03T10:13:30Z"));
  waits.note(Fate::asleep, at("2025-03-03T10:18:30Z"));
  EXPECT_EQ(books.book(account, service, every_minute, waits).served,
            (PulseFates{.run = 1, .running = 3, .down = 3, .asleep = 4, .limit = 4, .store = 5}));
}

TEST_F(BookkeeperTest, gives_the_earliest_pulse_to_a_retry_or_an_orphan_that_comes_first) {
  Service service = cron_start("2025-03-03T10:00:00Z", "2025-03-03T10:03:00Z", every_minute);
  service.down_until = service.until;
  service.fate_of_first = Fate::retry;
  EXPECT_EQ(books.book(account, service, every_minute, waits).served,
            (PulseFates{.down = 2, .retry = 1}));
  service.fate_of_first = Fate::orphan;
  EXPECT_EQ(books.book(account, service, every_minute, waits).served,
            (PulseFates{.down = 2, .orphan = 1}));
}

TEST_F(BookkeeperTest, changes_nothing_if_nothing_was_due) {
  Service service = cron_start("2025-03-03T10:00:00Z", "2025-03-03T10:20:00Z", hourly);
  service.first = no_instant;
  const Booking booking = books.book(account, service, hourly, waits);
  EXPECT_EQ(booking.account, account);
  EXPECT_EQ(booking.served, PulseFates{});
}

// K2: a new task runs for the minute in which it was registered.
TEST_F(BookkeeperTest, counts_the_minute_of_a_boot_start) {
  Service service = cron_start("2025-03-03T10:00:30Z", "2025-03-03T10:02:00Z", every_minute);
  service.first = at("2025-03-03T10:00:00Z");
  service.is_boot = true;
  service.down_until = at("2025-03-03T10:00:30Z");
  waits.note(Fate::limit, at("2025-03-03T10:00:30Z"));
  account.from = service.first;
  EXPECT_EQ(books.book(account, service, every_minute, waits).served,
            (PulseFates{.run = 1, .limit = 2}));
  service.first = at("2025-03-03T20:00:00Z");  // T7: by a clock that was ahead
  EXPECT_EQ(books.book(account, service, every_minute, waits).served,
            (PulseFates{.run = 1, .limit = 2}));
  service.first = at("2025-03-03T10:00:00Z");
  account.from = service.after;  // an account that began later
  EXPECT_EQ(books.book(account, service, every_minute, waits).served, PulseFates{.limit = 2});
}

TEST_F(BookkeeperTest, begins_an_account_with_the_pulses_of_a_start) {
  const Service service = cron_start("2025-03-03T10:00:00Z", "2025-03-03T11:00:00Z", hourly);
  EXPECT_EQ(books.book({}, service, hourly, waits).account.from, at("2025-03-03T10:00:00.001Z"));
}

TEST_F(BookkeeperTest, closes_a_day_with_the_first_start_of_the_next) {
  account.fates = {.run = 20};
  const Booking booking = books.book(
      account, cron_start("2025-03-04T03:00:00Z", "2025-03-04T06:00:00Z", hourly), hourly, waits);
  // Midnight belongs to the next day.
  EXPECT_THAT(booking.closed,
              ElementsAre(AccountStretch{{.from = account.from, .fates = {.run = 21}},
                                         at("2025-03-04T05:00:00Z")}));
  EXPECT_EQ(booking.account,
            (Account{.from = at("2025-03-04T05:00:00Z"), .number = 1, .fates = {.asleep = 2}}));
}

TEST_F(BookkeeperTest, keeps_one_stretch_for_the_days_of_a_long_pause) {
  Service service = cron_start("2025-03-03T10:00:00Z", "2026-03-03T10:00:00Z", hourly);
  service.down_until = service.until;
  const Booking booking = books.book(account, service, hourly, waits);
  ASSERT_EQ(booking.closed.size(), 2);
  EXPECT_EQ(booking.closed[0].sums.fates, (PulseFates{.run = 1, .down = 17}));
  EXPECT_EQ(booking.closed[1].sums.from, at("2025-03-04T05:00:00Z"));
  EXPECT_EQ(booking.closed[1].until, at("2026-03-03T05:00:00Z"));
  EXPECT_EQ(booking.closed[1].sums.fates, PulseFates{.down = 364 * 24});
  EXPECT_EQ(booking.account.fates, PulseFates{.down = 6});
}

// A weekly task does not need a row for each day.
TEST_F(BookkeeperTest, lets_days_without_pulses_belong_to_the_stretch_before) {
  const auto weekly = CronExpression::parse("0 12 * * 1");
  account.fates = {.run = 1};
  const Booking booking = books.book(
      account, cron_start("2025-03-03T17:00:00Z", "2025-03-10T16:00:00Z", weekly), weekly, waits);
  EXPECT_THAT(booking.closed,
              ElementsAre(AccountStretch{{.from = account.from, .fates = {.run = 1}},
                                         at("2025-03-10T04:00:00Z")}));
  EXPECT_EQ(booking.account.fates, PulseFates{.run = 1});
}

// T7: the pulses that recur are counted when they come again.
TEST_F(BookkeeperTest, counts_pulses_again_after_the_clock_was_set_back) {
  account.number = 7;
  count_again(account, calendar, hourly, at("2025-03-02T10:30:00Z"), at("2025-03-03T10:00:00Z"));
  EXPECT_EQ(account.recurred, 24);
  EXPECT_EQ(account.from, at("2025-03-02T10:30:00.001Z"));
}

TEST_F(BookkeeperTest, counts_no_pulse_again_that_it_did_not_count_before) {
  count_again(account, calendar, hourly, at("2025-03-02T10:30:00Z"), at("2025-03-03T10:00:00Z"));
  EXPECT_EQ(account.recurred, 6);  // from 05:00, when the account began
  EXPECT_EQ(account.from, at("2025-03-02T10:30:00.001Z"));
}

// The slow, obvious way: one pulse after the other.
std::map<Instant, PulseFates> walk(const Calendar& calendar,
                                   const CronExpression& cron,
                                   const Service& service,
                                   const std::vector<std::pair<Instant, Fate>>& notes) {
  std::map<Instant, PulseFates> days;
  for (auto pulse = calendar.find_next(cron, service.after); pulse && *pulse <= service.until;
       pulse = calendar.find_next(cron, *pulse)) {
    Fate fate = Fate::asleep;
    for (const auto& [from, reason] : notes) {
      if (from <= *pulse) fate = reason;
    }
    if (*pulse <= service.down_until) fate = Fate::down;
    if (*pulse <= service.ran_until) fate = Fate::running;
    if (*pulse == service.first) fate = service.fate_of_first;
    ++days[civil_day(calendar.zone(), *pulse).begin].of(fate);
  }
  return days;
}

RC_GTEST_PROP(Bookkeeper, agrees_with_a_walk_over_all_pulses, ()) {
  const auto zone = *rc::gen::element("America/New_York", "Europe/Berlin", "Australia/Lord_Howe");
  const Calendar calendar{Zone::load(zone)};
  const auto cron = CronExpression::parse(
      *rc::gen::element("* * * * *", "7,21,53 1-3 * * *", "30 2 * * *", "0 0 * * *", "0 12 * * 1"));
  const Instant base = at(*rc::gen::element("2025-03-07T00:00:00Z",
                                            "2025-03-28T00:00:00Z",
                                            "2025-04-04T00:00:00Z",
                                            "2025-10-31T00:00:00Z"));
  const auto later_by = [&](Instant from, int minutes_max) {
    return from + std::chrono::seconds{*rc::gen::inRange(0, minutes_max * 60)};
  };
  Bookkeeper books{calendar};
  Account account{.from = base};
  Instant served = later_by(base, 600);
  std::map<Instant, PulseFates> expected;
  std::vector<AccountStretch> stretches;
  Waits waits;
  std::vector<std::pair<Instant, Fate>> notes;
  const int starts = *rc::gen::inRange(1, 6);
  for (int i = 0; i < starts; ++i) {
    Service service{
        .after = served,
        .until = later_by(served, *rc::gen::element(1, 100, 5000)),
        .first = no_instant,
        .fate_of_first = *rc::gen::element(Fate::run, Fate::retry, Fate::orphan),
        .ran_until = *rc::gen::arbitrary<bool>() ? no_instant : later_by(served, 100),
        .down_until = *rc::gen::arbitrary<bool>() ? no_instant : later_by(served, 1000)};
    if (const auto first = calendar.find_next(cron, served); first && *first <= service.until) {
      service.first = *first;
    }
    for (Instant at = served; *rc::gen::inRange(0, 3) > 0;) {
      at = later_by(at, 300);
      const Fate reason = *rc::gen::element(Fate::limit, Fate::store, Fate::asleep);
      if (at > service.until || (!notes.empty() && notes.back().first >= at)) break;
      notes.emplace_back(at, reason);
      waits.note(reason, at);
    }
    const Booking booking = books.book(account, service, cron, waits);
    RC_ASSERT(booking.served.total() == calendar.count(cron, service.after, service.until));
    for (const auto& [day, fates] : walk(calendar, cron, service, notes)) expected[day] += fates;
    stretches.insert(stretches.end(), booking.closed.begin(), booking.closed.end());
    account = booking.account;
    served = service.until;
  }
  stretches.push_back({account, civil_day(calendar.zone(), served).end});

  Instant from = base;
  std::int64_t number = 0;
  for (const AccountStretch& stretch : stretches) {
    RC_ASSERT(stretch.sums.from == from);
    RC_ASSERT(stretch.sums.number == number++);
    PulseFates sum;
    for (const auto& [day, fates] : expected) {
      if (std::max(day, base) >= from && day < stretch.until) sum += fates;
    }
    RC_ASSERT(stretch.sums.fates == sum);
    from = stretch.until;
  }
}

}  // namespace
}  // namespace dutiful
