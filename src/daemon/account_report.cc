#include "daemon/account_report.h"

#include <algorithm>

#include <dutiful/cron.h>

#include "core/plan.h"
#include "store/sqlite/sqlite_store.h"

namespace dutiful {
namespace {

constexpr Duration tick{1};

Instant from_of(const AccountStretch& stretch) {
  return stretch.sums.from;
}

Instant earliest(std::span<const AccountStretch> stretches) {
  return from_of(std::ranges::min(stretches, {}, from_of));
}

// The stretches of an account, with the one that is open.
std::vector<AccountStretch> all_stretches(const TaskRecord& record,
                                          std::span<const AccountStretch> ended,
                                          Instant until) {
  std::vector<AccountStretch> stretches{ended.begin(), ended.end()};
  AccountStretch open{record.account, until};
  // The state of an earlier version has no account, so it begins with what is owed.
  if (open.sums.from == no_instant) open.sums.from = record.progress.served_until + tick;
  stretches.push_back(open);
  return stretches;
}

// The stretches from the one that contains `since` on.
std::span<const AccountStretch> select(std::span<const AccountStretch> stretches, Instant since) {
  std::size_t first = 0;
  while (first + 1 < stretches.size() && stretches[first].until <= since) ++first;
  // After the clock was set back (RULES T7), a stretch begins before earlier ones end. Its pulses
  // that recur are in those, so they belong together.
  while (first > 0 && stretches[first - 1].until > earliest(stretches.subspan(first))) --first;
  return stretches.subspan(first);
}

// Minutes of the schedule that the clocks jump over in (after, until].
std::int64_t count_jumped(const Calendar& calendar,
                          const CronExpression& cron,
                          Instant after,
                          Instant until) {
  std::int64_t minutes = 0;
  for (const Calendar::Gap& gap : calendar.gaps(after, until)) {
    for (auto minute = cron.find_at_or_after(gap.begin); minute && *minute < gap.end;
         minute = cron.find_at_or_after(*minute + std::chrono::minutes{1})) {
      ++minutes;
    }
  }
  return minutes;
}

// Whether the pulse of a boot start is owed, and belongs to the account (RULES K2).
bool owes_boot(const TaskRecord& record, const Calendar& calendar, const CronExpression& cron) {
  if (!record.progress.boot_pending || record.account.from == no_instant) return false;
  const auto pulse = calendar.find_previous(cron, record.progress.first_coming);
  return pulse && *pulse >= record.account.from;
}

// Keeps the records that are asked for.
void choose(std::vector<TaskRecord>& records, const AccountQuery& query) {
  std::erase_if(records, [&](const TaskRecord& record) {
    const std::string& name = record.config.name;
    return (query.task && name != *query.task) || (!query.after.empty() && name <= query.after);
  });
  if (!query.limit || records.size() <= *query.limit) return;
  const auto end = records.begin() + static_cast<std::ptrdiff_t>(*query.limit);
  std::ranges::nth_element(records, end, {}, [](const TaskRecord& record) -> const std::string& {
    return record.config.name;
  });
  records.erase(end, records.end());
}

}  // namespace

TaskAccount account_of(const TaskRecord& record,
                       std::span<const AccountStretch> ended,
                       const Calendar& calendar,
                       const AccountQuery& query,
                       Instant now) {
  const TaskProgress& progress = record.progress;
  TaskAccount account{.name = record.config.name, .cron = record.config.cron};
  account.until = std::max(now, progress.served_until);
  const auto stretches = all_stretches(record, ended, account.until);
  const auto selected = select(stretches, query.since.value_or(no_instant));
  for (const AccountStretch& stretch : selected) {
    account.fates += stretch.sums.fates;
    account.recurred += stretch.sums.recurred;
  }
  if (query.with_stretches) account.stretches.assign(selected.begin(), selected.end());

  const Instant known_from = from_of(selected.front());
  account.from = earliest(selected);
  if (selected.size() == stretches.size()) {
    const Instant asked_from =
        std::max(query.since.value_or(progress.first_coming), progress.first_coming);
    account.from = std::min(account.from, asked_from);
  }
  // A damaged record may have an invalid expression, until the task is registered again (P7).
  if (const auto cron = CronExpression::try_parse(record.config.cron)) {
    account.owed = calendar.count(*cron, progress.served_until, account.until) +
                   (owes_boot(record, calendar, *cron) ? 1 : 0);
    account.unknown = calendar.count(*cron, account.from - tick, known_from - tick);
    account.pulses = calendar.count(*cron, account.from - tick, account.until);
    account.jumped = count_jumped(calendar, *cron, account.from - tick, account.until);
  } else {
    account.pulses = account.sum();
  }
  return account;
}

std::vector<TaskAccount> read_account(const std::string& state,
                                      const Calendar& calendar,
                                      const AccountQuery& query,
                                      Instant now) {
  std::vector<TaskAccount> accounts;
  read_sqlite_accounts(
      state,
      [&](std::vector<TaskRecord>& records) { choose(records, query); },
      [&](const TaskRecord& record, std::span<const AccountStretch> ended) {
        accounts.push_back(account_of(record, ended, calendar, query, now));
      });
  std::ranges::sort(accounts, {}, &TaskAccount::name);
  return accounts;
}

}  // namespace dutiful
