#include "cli/account_text.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include <dutiful/cron.h>

#include "cli/table.h"
#include "cron/english.h"
#include "daemon/local_time.h"
#include "text/characters.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// The numbers of one line.
struct Line {
  std::string task;
  std::string time;
  std::int64_t pulses;
  PulseFates fates;
  std::int64_t owed = 0;
  std::int64_t unknown = 0;
  std::int64_t recurred = 0;
  std::int64_t jumped = 0;
};

struct NumberColumn {
  const char* title;
  std::int64_t (*value)(const Line&);
  bool always = false;  // also if it is 0 in every line
};

constexpr std::array columns{
    NumberColumn{"PULSES", [](const Line& line) { return line.pulses; }, true},
    NumberColumn{"RUN", [](const Line& line) { return line.fates.run; }, true},
    NumberColumn{"STILL RUNNING", [](const Line& line) { return line.fates.running; }},
    NumberColumn{"DOWN", [](const Line& line) { return line.fates.down; }},
    NumberColumn{"ASLEEP", [](const Line& line) { return line.fates.asleep; }},
    NumberColumn{"LIMIT", [](const Line& line) { return line.fates.limit; }},
    NumberColumn{"STORE", [](const Line& line) { return line.fates.store; }},
    NumberColumn{"RETRY", [](const Line& line) { return line.fates.retry; }},
    NumberColumn{"ORPHAN", [](const Line& line) { return line.fates.orphan; }},
    NumberColumn{"OWED", [](const Line& line) { return line.owed; }},
    NumberColumn{"UNKNOWN", [](const Line& line) { return line.unknown; }},
    NumberColumn{"RECURRED", [](const Line& line) { return line.recurred; }},
    NumberColumn{"JUMPED", [](const Line& line) { return line.jumped; }},
};

void print_lines(const std::vector<Line>& lines, const char* time_title, std::ostream& out) {
  std::vector<NumberColumn> shown;
  for (const NumberColumn& column : columns) {
    const auto counts = [&](const Line& line) { return column.value(line) != 0; };
    if (column.always || std::ranges::any_of(lines, counts)) shown.push_back(column);
  }
  std::vector<Table::Column> titles{{"TASK"}, {time_title}};
  for (const NumberColumn& column : shown) titles.push_back({column.title, Table::Align::right});
  Table table{std::move(titles)};
  for (const Line& line : lines) {
    std::vector<std::string> cells{line.task, line.time};
    for (const NumberColumn& column : shown) cells.push_back(std::to_string(column.value(line)));
    table.add(std::move(cells));
  }
  table.print(out);
}

std::string date_of(Instant instant, const Zone& zone) {
  constexpr std::size_t date = 10;
  return local_text(instant, zone).substr(0, date);
}

// Its day, or the first and the last one.
std::string days_of(const AccountStretch& stretch, bool is_open, const Zone& zone) {
  const Instant last = is_open ? stretch.until : stretch.until - Duration{1};
  const std::string from = date_of(stretch.sums.from, zone);
  const std::string until = date_of(std::max(last, stretch.sums.from), zone);
  return from == until ? from : from + " to " + until;
}

std::string counted(std::int64_t number, const char* one, const char* several) {
  return std::to_string(number) + ' ' + (number == 1 ? one : several);
}

// "1 because the daemon was down, 2 because …"
std::string reasons_of(const PulseFates& fates) {
  std::string text;
  const auto add = [&](std::int64_t pulses, const char* reason) {
    if (pulses == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(pulses) + " because " + reason;
  };
  add(fates.running, "it was still running");
  add(fates.down, "the daemon was down");
  add(fates.asleep, "the daemon was asleep or late");
  add(fates.limit, "too many commands ran at once");
  add(fates.store, "the state could not be written");
  add(fates.retry, "a retry came first");
  add(fates.orphan, "the restart of an interrupted run came first");
  return text;
}

// "at 03:15, every day"; the text of an expression that is damaged.
std::string schedule_of(const std::string& cron) {
  const auto expression = CronExpression::try_parse(cron);
  if (!expression) return escape(cron);
  std::string english = to_english(*expression);
  english.front() = to_lower(english.front());
  return english;
}

}  // namespace

void print_accounts(const std::vector<TaskAccount>& accounts, const Zone& zone, std::ostream& out) {
  std::vector<Line> lines;
  lines.reserve(accounts.size());
  for (const TaskAccount& account : accounts) {
    lines.push_back({.task = escape(account.name),
                     .time = local_text(account.from, zone),
                     .pulses = account.pulses,
                     .fates = account.fates,
                     .owed = account.owed,
                     .unknown = account.unknown,
                     .recurred = account.recurred,
                     .jumped = account.jumped});
  }
  print_lines(lines, "SINCE", out);
}

void print_days(const std::vector<TaskAccount>& accounts, const Zone& zone, std::ostream& out) {
  std::vector<Line> lines;
  for (const TaskAccount& account : accounts) {
    const std::string name = escape(account.name);
    if (account.unknown > 0) {
      lines.push_back({.task = name,
                       .time = "earlier",
                       .pulses = account.unknown,
                       .fates = {},
                       .unknown = account.unknown});
    }
    for (const AccountStretch& stretch : account.stretches) {
      const bool is_open = &stretch == &account.stretches.back();
      const std::int64_t owed = is_open ? account.owed : 0;
      lines.push_back({.task = name,
                       .time = days_of(stretch, is_open, zone),
                       .pulses = stretch.sums.fates.total() + owed - stretch.sums.recurred,
                       .fates = stretch.sums.fates,
                       .owed = owed,
                       .recurred = stretch.sums.recurred});
    }
  }
  print_lines(lines, "DAY", out);
}

void print_account(const TaskAccount& account, const Zone& zone, std::ostream& out) {
  const PulseFates& fates = account.fates;
  out << escape(account.name) << ", " << schedule_of(account.cron) << ", since "
      << local_text(account.from, zone) << ": " << counted(account.sum(), "pulse", "pulses")
      << '\n';
  if (account.sum() != account.pulses) {
    out << "  the schedule was changed in this time; the present one has "
        << counted(account.pulses, "pulse", "pulses") << " in it\n";
  }
  if (fates.run > 0) out << "  " << fates.run << " run\n";
  if (const std::int64_t others = fates.total() - fates.run; others > 0) {
    out << "  " << others << " served by a later run: " << reasons_of(fates) << '\n';
  }
  if (account.owed > 0) out << "  " << account.owed << " owed: not served yet\n";
  if (account.unknown > 0) {
    out << "  " << account.unknown << " unknown: from before the account began\n";
  }
  if (account.recurred > 0) {
    out << "  " << account.recurred << " of these counted twice: the clock was set back\n";
  }
  if (account.jumped > 0) {
    out << "beside them, the clocks jumped over "
        << counted(account.jumped,
                   "minute of the schedule, which is",
                   "minutes of the schedule, which are")
        << " no " << (account.jumped == 1 ? "pulse" : "pulses") << '\n';
  }
}

}  // namespace dutiful
