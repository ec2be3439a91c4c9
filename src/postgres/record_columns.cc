#include "postgres/record_columns.h"

#include <utility>

#include <dutiful/errors.h>

#include "store/check_progress.h"

namespace dutiful::postgres {
namespace {

constexpr std::size_t account_size = 11;

Account account_of(const std::vector<std::int64_t>& numbers, const std::string& task) {
  if (numbers.size() != account_size) {
    throw TaskInvalidStructureError(
        "The account of a task does not have " + std::to_string(account_size) + " numbers",
        task,
        task);
  }
  Account account;
  std::size_t next = 0;
  const std::int64_t from = numbers[next++];
  if (from != Result::no_number) {
    account.from = Instant{Duration{from}};
    check_instant(account.from, "accountFrom", task);
  }
  account.number = numbers[next++];
  PulseFates::for_each(
      account.fates, [&](const char* /*name*/, std::int64_t& pulses) { pulses = numbers[next++]; });
  account.recurred = numbers[next++];
  return account;
}

}  // namespace

std::string progress_list(const std::string& prefix) {
  std::string list;
  for (const Column& column : progress_columns) {
    list.append(list.empty() ? "" : ", ").append(prefix).append(column.name);
  }
  return list;
}

std::string progress_arrays(int first) {
  std::string list;
  for (const Column& column : progress_columns) {
    list.append(list.empty() ? "" : ", ")
        .append("$" + std::to_string(first++))
        .append("::")
        .append(column.type)
        .append("[]");
  }
  return list;
}

void ProgressArrays::add(cluster::MemberId runner, const TaskProgress& progress) {
  std::size_t next = 0;
  columns_[next++].add(to_bigint(runner));
  columns_[next++].add(static_cast<std::int64_t>(progress.state));
  columns_[next++].add(std::int64_t{progress.boot_pending ? 1 : 0});
  columns_[next++].add(std::int64_t{progress.orphan_pending ? 1 : 0});
  columns_[next++].add(std::int64_t{progress.attempt});
  columns_[next++].add(std::int64_t{progress.retries});
  columns_[next++].add(to_bigint(progress.fence));
  columns_[next++].add(to_bigint(progress.recurrence));
  for (const Instant instant : {progress.pulse,
                                progress.first_coming,
                                progress.served_until,
                                progress.last_attempt,
                                progress.last_success,
                                progress.last_failure,
                                progress.retry_at,
                                progress.recurs_until}) {
    columns_[next++].add(instant);
  }
}

void ProgressArrays::add_to(Parameters& parameters) const {
  for (const Array& column : columns_) parameters.add(column);
}

Array account_numbers(const Account& account) {
  Array numbers;
  numbers.add(account.from).add(account.number);
  PulseFates::for_each(account.fates,
                       [&](const char* /*name*/, std::int64_t pulses) { numbers.add(pulses); });
  numbers.add(account.recurred);
  return numbers;
}

std::string select_records(const std::string& columns, const std::string& from) {
  // If the journal knows the task, then also values that are null come from there.
  std::string progress;
  for (const Column& column : progress_columns) {
    progress.append(", CASE WHEN n.task IS NULL THEN t.").append(column.name);
    progress.append(" ELSE n.").append(column.name).append(" END");
  }
  const std::string tail = std::string{journal_tail};
  return "SELECT " + columns +
         "t.name, t.cron, t.retry_delay_ms, t.registered,"
         " coalesce(a.account, t.account)" +
         progress + " FROM " + from + " LEFT JOIN (SELECT DISTINCT ON (j.task) j.* FROM " + tail +
         " ORDER BY j.task, j.seq DESC) n ON n.task = t.name AND n.shard = t.shard"
         " LEFT JOIN (SELECT DISTINCT ON (j.task) j.task, j.account FROM " +
         tail +
         " WHERE j.account IS NOT NULL ORDER BY j.task, j.seq DESC) a ON a.task = t.name"
         " ORDER BY t.name";
}

cluster::Record read_record(const Result& result, int row, int column) {
  cluster::Record record;
  record.config.name = result.bytes(row, column++);
  record.config.cron = result.bytes(row, column++);
  record.config.retry_delay = Duration{result.integer(row, column++)};
  record.registered = result.boolean(row, column++);
  record.account = account_of(result.numbers(row, column++), record.config.name);
  record.runner = cluster::MemberId{static_cast<std::uint64_t>(result.integer(row, column++))};
  TaskProgress& progress = record.progress;
  const std::int64_t state = result.integer(row, column++);
  if (state < 0 || state > 2) {
    const std::string value = std::to_string(state);
    throw TaskInvalidValueError(
        "state", value, value + " is not between 0 and 2", record.config.name);
  }
  progress.state = static_cast<TaskState>(state);
  progress.boot_pending = result.boolean(row, column++);
  progress.orphan_pending = result.boolean(row, column++);
  progress.attempt = static_cast<std::uint32_t>(result.integer(row, column++));
  progress.retries = static_cast<std::uint32_t>(result.integer(row, column++));
  progress.fence = static_cast<std::uint64_t>(result.integer(row, column++));
  progress.recurrence = static_cast<std::uint64_t>(result.integer(row, column++));
  for (Instant* instant : {&progress.pulse,
                           &progress.first_coming,
                           &progress.served_until,
                           &progress.last_attempt,
                           &progress.last_success,
                           &progress.last_failure,
                           &progress.retry_at,
                           &progress.recurs_until}) {
    *instant = result.instant(row, column++);
  }
  check_progress(progress, record.config.name);
  return record;
}

}  // namespace dutiful::postgres
