// dutiful status: the state of each task.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/json.h"
#include "cli/policy_argument.h"
#include "cli/state_argument.h"
#include "cli/subcommands.h"
#include "daemon/local_time.h"
#include "daemon/task_status.h"
#include "text/characters.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

struct Arguments {
  std::optional<std::string> state;
  std::string repeated = "both";
  bool json = false;
};

nlohmann::ordered_json time_of(const std::optional<Instant>& instant) {
  return instant ? nlohmann::ordered_json(format_utc(*instant)) : nlohmann::ordered_json{};
}

// The states by their names in the specification (RULES K1), and one that only an observer sees.
const char* name_of(TaskStatus::State state) {
  switch (state) {
    case TaskStatus::State::awaiting_run:
      return "AwaitingRun";
    case TaskStatus::State::running:
      return "Running";
    case TaskStatus::State::awaiting_retry:
      return "AwaitingRetry";
    case TaskStatus::State::interrupted:
      return "Interrupted";
  }
  return "";
}

// Whether a process holds the state; null if that is unknown.
nlohmann::ordered_json is_served(const HolderStatus& service) {
  if (service.answer == HolderStatus::Answer::unknown) return nullptr;
  return service.answer == HolderStatus::Answer::held;
}

nlohmann::ordered_json server_of(const HolderStatus& service) {
  if (service.answer != HolderStatus::Answer::held || !service.holder) return nullptr;
  return {{"process", service.holder->process},
          {"since", format_utc(service.holder->since)},
          {"host", service.holder->host}};
}

// The format is a list of tasks, so the holder is repeated for each task.
void print_json(const StateStatus& status, std::ostream& out) {
  ArrayPrinter list{out};
  for (const TaskStatus& task : status.tasks) {
    list.print({{"taskName", task.name},
                {"cronExpression", task.cron},
                {"state", name_of(task.state)},
                {"attempt", task.attempt},
                {"lastAttemptAt", time_of(task.last_attempt)},
                {"lastSuccessAt", time_of(task.last_success)},
                {"lastFailureAt", time_of(task.last_failure)},
                {"pendingRetryUntil", time_of(task.retry_at)},
                {"nextDueAt", time_of(task.next_due)},
                {"overdueSince", time_of(task.overdue_since)},
                {"served", is_served(status.service)},
                {"servedBy", server_of(status.service)}});
  }
  list.finish();
}

std::string process_text(const Holder& holder) {
  std::string text = "process " + std::to_string(holder.process);
  if (!holder.host.empty() && holder.host != escape(host_name())) text += " on " + holder.host;
  return text;
}

std::string service_text(const HolderStatus& service, const Zone& zone) {
  const auto& holder = service.holder;
  switch (service.answer) {
    case HolderStatus::Answer::held:
      return "held by " + (holder
                               ? process_text(*holder) + " since " + local_text(holder->since, zone)
                               : "an unknown process");
    case HolderStatus::Answer::free:
      return holder
                 ? "no daemon is running on this state: " + process_text(*holder) +
                       ", which held it since " + local_text(holder->since, zone) +
                       ", was killed or crashed; its commands may still be running; `dutiful run` "
                       "kills them and runs their tasks again"
                 : "no daemon is running on this state; start one with `dutiful run`";
    case HolderStatus::Answer::unknown:
      break;
  }
  return "cannot tell whether a daemon is running on this state: " + service.trouble;
}

std::string state_text(const TaskStatus& task, const Zone& zone) {
  if (task.state == TaskStatus::State::interrupted) return "interrupted, will be restarted";
  if (task.overdue_since) return "overdue since " + local_text(*task.overdue_since, zone);
  if (task.state == TaskStatus::State::running) {
    return task.attempt > 1 ? "running, attempt " + std::to_string(task.attempt) : "running";
  }
  if (task.retry_at) return "failed, retry at " + local_text(*task.retry_at, zone);
  return task.last_attempt ? "waiting" : "never ran";
}

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

// Wider cells do not widen their column.
constexpr std::size_t width_max = 40;

void print_table(const std::vector<TaskStatus>& tasks, const Zone& zone, std::ostream& out) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{
      {"TASK", "STATE", "LAST START", "LAST SUCCESS", "LAST FAILURE", "NEXT DUE"}};
  const auto time = [&](const std::optional<Instant>& instant) {
    return instant ? local_text(*instant, zone) : std::string{"-"};
  };
  for (const TaskStatus& task : tasks) {
    rows.push_back({escape(task.name),
                    state_text(task, zone),
                    time(task.last_attempt),
                    time(task.last_success),
                    time(task.last_failure),
                    time(task.next_due)});
  }
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(width_of(row[i]), width_max));
    }
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 == row.size()) continue;
      const std::size_t width = width_of(row[i]);
      line.append(std::max(widths[i], width) - width + 2, ' ');
    }
    out << line << '\n';
  }
}

Exit show(const Arguments& arguments, Console& console) {
  const Zone zone = Zone::host();
  const std::string state = state_of(arguments.state);
  const Calendar calendar{zone, read_repeated(arguments.repeated)};
  const auto status = read_state([&] { return read_status(state, calendar, console.now()); });
  if (arguments.json) {
    print_json(status, console.out);
  } else {
    console.out << service_text(status.service, zone) << '\n';
    if (status.tasks.empty()) {
      console.out << "no tasks\n";
    } else {
      print_table(status.tasks, zone, console.out);
    }
  }
  return Exit::done;
}

}  // namespace

CommandSyntax status_command() {
  auto arguments = std::make_shared<Arguments>();
  return {.name = "status",
          .description = "Show the state of each task",
          .options = {state_option(arguments->state),
                      repeated_option(arguments->repeated),
                      {.name = "--json",
                       .description = "Print a JSON array",
                       .target = &arguments->json}},
          .action = [=](Console& console) { return show(*arguments, console); }};
}

}  // namespace dutiful
