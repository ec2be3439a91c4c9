// dutiful history: the recent runs.

#include "daemon/history.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/json.h"
#include "cli/number_argument.h"
#include "cli/state_argument.h"
#include "cli/subcommands.h"
#include "daemon/event_text.h"
#include "daemon/local_time.h"
#include "daemon/task_status.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

// How many lines of a run's output are printed.
constexpr std::size_t lines_max = 5;

struct Arguments {
  std::optional<std::string> task;
  std::optional<std::string> state;
  std::string count = "20";
  bool json = false;
};

const char* result_of(const HistoryEntry& entry) {
  switch (entry.end) {
    case HistoryEntry::End::none:
      return "running";
    case HistoryEntry::End::interrupted:
      return "interrupted";
    case HistoryEntry::End::recorded:
      break;
  }
  return entry.result.succeeded() ? "succeeded" : "failed";
}

// Why the run did not succeed; empty if it succeeded or still runs.
std::string error_of(const HistoryEntry& entry) {
  if (entry.end == HistoryEntry::End::interrupted) {
    return std::string{
               "no result was recorded: the daemon was killed or crashed, or could not "
               "write its state"} +
           (entry.to_be_restarted ? "; the run will be restarted" : "");
  }
  return entry.end == HistoryEntry::End::none || entry.result.succeeded() ? ""
                                                                          : reason_of(entry.result);
}

void print_json(const std::vector<HistoryEntry>& entries, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json{}; };
  ArrayPrinter list{out};
  for (const HistoryEntry& entry : entries) {
    const CommandResult& result = entry.result;
    const bool recorded = entry.end == HistoryEntry::End::recorded;
    const bool runs = entry.end == HistoryEntry::End::none;
    const auto if_recorded = [&](const auto& value) { return recorded ? Json(value) : Json{}; };
    const auto lateness = lateness_of(entry);
    const std::string error = error_of(entry);
    list.print({{"taskName", result.run.task},
                {"reason", entry.reason_known ? Json(name_of(result.run.reason)) : Json{}},
                {"pulse", format_utc(result.run.pulse)},
                {"attempt", result.run.attempt},
                {"startedAt", format_utc(result.run.started)},
                {"latenessMs", lateness ? Json(lateness->count()) : Json{}},
                {"durationMs", recorded || runs ? Json(result.duration.count()) : Json{}},
                {"result", result_of(entry)},
                {"success", runs ? Json{} : Json(recorded && result.succeeded())},
                {"exitStatus", or_null(result.exit_status)},
                {"signal", or_null(result.signal)},
                {"timeLimit", result.past_time_limit},
                {"error", error.empty() ? Json{} : Json(error)},
                {"userMs", if_recorded(result.user_time.count())},
                {"systemMs", if_recorded(result.system_time.count())},
                {"memoryMaxBytes", if_recorded(result.memory_max)},
                {"outputBytes", if_recorded(result.output_total)},
                {"output", if_recorded(result.output)}});
  }
  list.finish();
}

void print_output(const CommandResult& result, std::ostream& out) {
  std::vector<std::string> lines;
  std::istringstream text{result.output};
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::size_t from = lines.size() > lines_max ? lines.size() - lines_max : 0;
  if (from > 0 || result.output_total > result.output.size()) out << "    …\n";
  for (std::size_t i = from; i < lines.size(); ++i) out << "    " << escape(lines[i]) << '\n';
}

// Why and when it was started: "cron, attempt 2, 12 ms late".
std::string circumstances_of(const HistoryEntry& entry) {
  const RunInfo& run = entry.result.run;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (entry.reason_known) add(name_of(run.reason));
  if (run.attempt > 1) add("attempt " + std::to_string(run.attempt));
  const auto lateness = lateness_of(entry);
  if (lateness) add(duration_text(*lateness) + " late");
  return text;
}

void print_text(const std::vector<HistoryEntry>& entries, std::ostream& out) {
  const Zone zone = Zone::host();
  for (const HistoryEntry& entry : entries) {
    const CommandResult& result = entry.result;
    out << local_text(result.run.started, zone) << "  " << escape(result.run.task) << "  "
        << result_of(entry);
    if (entry.end == HistoryEntry::End::recorded)
      out << " after " << duration_text(result.duration);
    if (entry.end == HistoryEntry::End::none) out << " for " << duration_text(result.duration);
    const std::string circumstances = circumstances_of(entry);
    if (!circumstances.empty()) out << "  (" << circumstances << ')';
    // Without the last line of the output, which is printed below.
    HistoryEntry bare = entry;
    bare.result.output.clear();
    const std::string error = error_of(bare);
    if (!error.empty()) out << ": " << on_one_line(error);
    out << '\n';
    print_output(result, out);
  }
}

// The runs that only the state records, because they have not ended, before those of the history.
std::vector<HistoryEntry> read_runs(const std::string& state,
                                    const std::vector<TaskStatus>& tasks,
                                    const Arguments& arguments,
                                    std::size_t count,
                                    Instant now) {
  // The state is read first: a run that ends in between is then in both, and not in neither.
  std::vector<HistoryEntry> entries;
  for (const TaskStatus& task : tasks) {
    if (arguments.task && task.name != *arguments.task) continue;
    if (auto run = unfinished_run(task, now)) entries.push_back(std::move(*run));
  }
  const auto started = [](const HistoryEntry& entry) { return entry.result.run.started; };
  std::ranges::stable_sort(entries, std::ranges::greater{}, started);
  auto ended = read_history({.state = state, .task = arguments.task, .count = count});
  std::erase_if(entries, [&](const HistoryEntry& entry) {
    return std::ranges::any_of(ended, [&](const HistoryEntry& other) {
      return other.result.run.task == entry.result.run.task && started(other) == started(entry);
    });
  });
  std::ranges::move(ended, std::back_inserter(entries));
  if (entries.size() > count) entries.resize(count);
  return entries;
}

Exit show(const Arguments& arguments, Console& console) {
  const std::size_t count = read_number("--count", arguments.count, {.least = 1});
  const std::string state = state_of(arguments.state);
  const Instant now = console.now();
  const auto tasks =
      read_state([&] { return read_status(state, Calendar{Zone::host()}, now).tasks; });
  const auto entries = read_state([&] { return read_runs(state, tasks, arguments, count, now); });
  if (entries.empty() && arguments.task && std::ranges::none_of(tasks, [&](const TaskStatus& task) {
        return task.name == *arguments.task;
      })) {
    throw std::runtime_error("unknown task " + quote(*arguments.task) +
                             "; dutiful status lists the tasks");
  }
  if (arguments.json) {
    print_json(entries, console.out);
  } else if (entries.empty()) {
    console.out << "no runs recorded"
                << (arguments.task ? " for task " + quote(*arguments.task) : "") << '\n';
  } else {
    print_text(entries, console.out);
  }
  return Exit::done;
}

}  // namespace

CommandSyntax history_command() {
  auto arguments = std::make_shared<Arguments>();
  return {.name = "history",
          .description = "Show recent runs, most recently ended first",
          .arguments = {{.name = "TASK",
                         .description = "Show only the runs of this task",
                         .target = &arguments->task}},
          .options = {state_option(arguments->state),
                      {.name = "--count",
                       .value = "N",
                       .description = "How many runs to show",
                       .target = &arguments->count},
                      {.name = "--json",
                       .description = "Print a JSON array",
                       .target = &arguments->json}},
          .action = [=](Console& console) { return show(*arguments, console); }};
}

}  // namespace dutiful
