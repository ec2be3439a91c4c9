// dutiful status: the state of each task.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/duration_argument.h"
#include "cli/json.h"
#include "cli/policy_argument.h"
#include "cli/state_argument.h"
#include "cli/status_check.h"
#include "cli/subcommands.h"
#include "daemon/event_text.h"
#include "daemon/find_state.h"
#include "daemon/history_reader.h"
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
  bool check = false;
  std::optional<std::string> allow;
  std::optional<std::string> max_overdue;
  bool json = false;
};

nlohmann::ordered_json time_of(const std::optional<Instant>& instant) {
  return instant ? nlohmann::ordered_json(format_utc(*instant)) : nlohmann::ordered_json{};
}

// The states by their names in the specification (RULES K1), and one that only an observer sees.
const char* name_of(RecordedTask::State state) {
  switch (state) {
    case RecordedTask::State::awaiting_run:
      return "AwaitingRun";
    case RecordedTask::State::running:
      return "Running";
    case RecordedTask::State::awaiting_retry:
      return "AwaitingRetry";
    case RecordedTask::State::interrupted:
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

// Of the last run that ended. The end of an interrupted run is unknown.
std::optional<Duration> duration_of(const LastRuns& last) {
  if (!last.any || last.any->end != HistoryEntry::End::recorded) return std::nullopt;
  return last.any->result.duration;
}

// The format is a list of tasks, so the holder is repeated for each task.
void print_json(const StateStatus& status, const std::vector<LastRuns>& runs, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  ArrayPrinter list{out};
  for (std::size_t i = 0; i < status.tasks.size(); ++i) {
    const RecordedTask& task = status.tasks[i];
    const LastRuns& last = runs[i];
    const auto duration = duration_of(last);
    list.print({{"taskName", task.name},
                {"cronExpression", task.cron},
                {"state", name_of(task.state)},
                {"attempt", task.attempt},
                {"lastAttemptAt", time_of(task.last_attempt)},
                {"lastSuccessAt", time_of(task.last_success)},
                {"lastFailureAt", time_of(task.last_failure)},
                {"lastResult", last.any ? Json(result_name_of(*last.any)) : Json{}},
                {"lastDurationMs", duration ? Json(duration->count()) : Json{}},
                {"lastError", last.unsuccessful ? Json(error_of(*last.unsuccessful)) : Json{}},
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

std::string state_text(const RecordedTask& task, const Zone& zone) {
  if (task.state == RecordedTask::State::interrupted) return "interrupted, will be restarted";
  if (task.overdue_since) return "overdue since " + local_text(*task.overdue_since, zone);
  if (task.state == RecordedTask::State::running) {
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

void print_table(const std::vector<RecordedTask>& tasks,
                 const std::vector<LastRuns>& runs,
                 const Zone& zone,
                 std::ostream& out) {
  using Row = std::array<std::string, 7>;
  std::vector<Row> rows{
      {"TASK", "STATE", "LAST START", "TOOK", "LAST SUCCESS", "LAST FAILURE", "NEXT DUE"}};
  const auto time = [&](const std::optional<Instant>& instant) {
    return instant ? local_text(*instant, zone) : std::string{"-"};
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const RecordedTask& task = tasks[i];
    const auto duration = duration_of(runs[i]);
    rows.push_back({escape(task.name),
                    state_text(task, zone),
                    time(task.last_attempt),
                    duration ? duration_text(*duration) : "-",
                    time(task.last_success),
                    time(task.last_failure),
                    time(task.next_due)});
  }
  std::array<std::size_t, 7> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(width_of(row[i]), width_max));
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 == row.size()) continue;
      const std::size_t width = width_of(row[i]);
      line.append(std::max(widths[i], width) - width + 2, ' ');
    }
    out << line << '\n';
    // An error is longer than any column, and has passed once the task has succeeded.
    if (r == 0 || !is_failing(tasks[r - 1]) || !runs[r - 1].unsuccessful) continue;
    out << "    " << on_one_line(error_of(*runs[r - 1].unsuccessful)) << '\n';
  }
}

// The history adds to the status, which is complete without it.
std::vector<LastRuns> read_last_runs(const std::string& state,
                                     const std::vector<RecordedTask>& tasks,
                                     std::ostream& err) {
  std::vector<std::string> names;
  names.reserve(tasks.size());
  for (const RecordedTask& task : tasks) names.push_back(task.name);
  try {
    return HistoryReader{state}.read_last(names);
  } catch (const Error& error) {
    err << "dutiful: " << on_one_line(error.what()) << '\n';
    return std::vector<LastRuns>(tasks.size());
  }
}

Tolerance tolerance_of(const Arguments& arguments) {
  Tolerance tolerance;
  if (!arguments.check && (arguments.allow || arguments.max_overdue)) {
    throw UsageError(std::string{arguments.allow ? "--allow" : "--max-overdue"} +
                     " is for --check; add it");
  }
  if (arguments.allow) read_allowed("--allow", *arguments.allow, tolerance);
  if (arguments.max_overdue) {
    tolerance.max_overdue = read_duration("--max-overdue", *arguments.max_overdue);
  }
  return tolerance;
}

// A state that cannot be read is one more thing that is wrong.
Exit check(const Arguments& arguments, Console& console) {
  const Zone zone = Zone::host();
  const Tolerance tolerance = tolerance_of(arguments);
  const Calendar calendar{zone, read_repeated(arguments.repeated)};
  if (arguments.state == "") throw UsageError("--state: the file name is empty");
  CheckResult health;
  std::size_t tasks = 0;
  try {
    const Instant now = console.now();
    const auto status = read_status(find_state(arguments.state), calendar, now);
    tasks = status.tasks.size();
    health = check_status(status, tolerance, zone, now);
  } catch (const std::exception& error) {
    health.reason = on_one_line(error.what());
  }
  if (arguments.json) {
    using Json = nlohmann::ordered_json;
    console.out << to_text({{"ok", health.is_ok()},
                            {"reason", health.is_ok() ? Json{} : Json(health.reason)},
                            {"failing", health.failing},
                            {"overdue", health.overdue}})
                << '\n';
  } else if (health.is_ok()) {
    console.out << "ok: " << tasks << (tasks == 1 ? " task\n" : " tasks\n");
  } else {
    console.out << health.reason << '\n';
  }
  return health.is_ok() ? Exit::done : Exit::no;
}

Exit show(const Arguments& arguments, Console& console) {
  (void)tolerance_of(arguments);
  const Zone zone = Zone::host();
  const std::string state = state_of(arguments.state);
  const Calendar calendar{zone, read_repeated(arguments.repeated)};
  const auto status = read_state([&] { return read_status(state, calendar, console.now()); });
  const auto runs = read_last_runs(state, status.tasks, console.err);
  if (arguments.json) {
    print_json(status, runs, console.out);
  } else {
    console.out << service_text(status.service, zone) << '\n';
    if (status.tasks.empty()) {
      console.out << "no tasks\n";
    } else {
      print_table(status.tasks, runs, zone, console.out);
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
                      {.name = "--check",
                       .description = "Only say whether all is well: exit with 0 if a daemon holds "
                                      "the state and no task is failing or overdue, otherwise with "
                                      "1 and one line that says what is wrong",
                       .target = &arguments->check},
                      {.name = "--allow",
                       .value = "WHAT",
                       .description = "What --check accepts: failing, overdue, or failing,overdue",
                       .target = &arguments->allow},
                      {.name = "--max-overdue",
                       .value = "DURATION",
                       .description =
                           "How long a task may be overdue before --check reports it (default: 0s)",
                       .target = &arguments->max_overdue},
                      {.name = "--json",
                       .description = "Print a JSON array, or with --check an object",
                       .target = &arguments->json}},
          .example = "dutiful status --check --max-overdue 5m",
          .action = [=](Console& console) {
            return arguments->check ? check(*arguments, console) : show(*arguments, console);
          }};
}

}  // namespace dutiful
