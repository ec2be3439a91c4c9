// dutiful account: what became of every pulse.

#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/account_text.h"
#include "cli/json.h"
#include "cli/policy_argument.h"
#include "cli/state_argument.h"
#include "cli/subcommands.h"
#include "cli/time_argument.h"
#include "daemon/account_json.h"
#include "daemon/account_report.h"
#include "store/sqlite/sqlite_store.h"
#include "text/nearest.h"
#include "text/quote.h"

namespace dutiful {
namespace {

struct Arguments {
  std::optional<std::string> task;
  std::optional<std::string> since;
  std::optional<std::string> state;
  std::string repeated = "both";
  bool days = false;
  bool json = false;
};

[[noreturn]] void refuse_task(const std::string& task, const std::string& state) {
  const auto records = read_state([&] { return read_sqlite_state(state); });
  std::vector<std::string_view> known;
  known.reserve(records.size());
  for (const TaskRecord& record : records) known.push_back(record.config.name);
  const std::string_view meant = nearest(task, known);
  throw std::runtime_error(
      "unknown task " + quote(task) + "; " +
      (meant.empty() ? "dutiful status lists the tasks" : "did you mean " + quote(meant) + '?'));
}

void print(const std::vector<TaskAccount>& accounts,
           const Arguments& arguments,
           const Zone& zone,
           std::ostream& out) {
  if (arguments.json) {
    ArrayPrinter list{out};
    for (const TaskAccount& account : accounts) list.print(json_of(account));
    list.finish();
  } else if (accounts.empty()) {
    out << "no tasks\n";
  } else {
    if (arguments.task) {
      print_account(accounts.front(), zone, out);
    } else if (!arguments.days) {
      print_accounts(accounts, zone, out);
    }
    if (arguments.days) print_days(accounts, zone, out);
  }
}

Exit show(const Arguments& arguments, Console& console) {
  const Zone zone = Zone::host();
  const Instant now = console.now();
  AccountQuery query{.task = arguments.task,
                     .with_stretches = arguments.days || (arguments.json && arguments.task)};
  if (arguments.since) query.since = read_past("--since", *arguments.since, zone, now);
  const std::string state = state_of(arguments.state);
  const Calendar calendar{zone, read_repeated(arguments.repeated)};
  const auto accounts = read_state([&] { return read_account(state, calendar, query, now); });
  if (arguments.task && accounts.empty()) refuse_task(*arguments.task, state);
  print(accounts, arguments, zone, console.out);
  return Exit::done;
}

}  // namespace

CommandSyntax account_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "account",
      .description = "Show what became of every pulse: run, served by a later run and why, owed",
      .arguments = {{.name = "TASK",
                     .description = "Show only this task, in sentences",
                     .target = &arguments->task}},
      .options = {{.name = "--since",
                   .value = "TIME",
                   .description = "Begin with the day of this time: a time in ISO 8601, or "
                                  "how long ago it was, such as 7d",
                   .target = &arguments->since},
                  {.name = "--days", .description = "Show each day", .target = &arguments->days},
                  state_option(arguments->state),
                  repeated_option(arguments->repeated),
                  {.name = "--json",
                   .description = "Print a JSON array",
                   .target = &arguments->json}},
      .action = [=](Console& console) { return show(*arguments, console); }};
}

}  // namespace dutiful
