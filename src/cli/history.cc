// dutiful history: the recent runs.

#include "daemon/history.h"

#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/number_argument.h"
#include "daemon/event_text.h"
#include "daemon/find_state.h"
#include "store/sqlite/sqlite_store.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

// How many lines of a run's output a person wants to see.
constexpr std::size_t lines_max = 5;

struct Arguments {
  std::optional<std::string> task;
  std::optional<std::string> state;
  std::string count = "20";
  bool json = false;
};

// How late it started; of a first run and of one that a crash interrupted nobody can say.
std::optional<Duration> lateness_of(const HistoryEntry& entry) {
  const RunInfo& run = entry.result.run;
  if (!entry.scheduled || run.reason == Reason::boot || run.reason == Reason::orphan) {
    return std::nullopt;
  }
  return run.started - *entry.scheduled;
}

void print_json(const std::vector<HistoryEntry>& entries, std::ostream& out) {
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json{};
  };
  auto list = nlohmann::ordered_json::array();
  for (const HistoryEntry& entry : entries) {
    const CommandResult& result = entry.result;
    const auto lateness = lateness_of(entry);
    list.push_back(
        {{"taskName", result.run.task},
         {"reason", name_of(result.run.reason)},
         {"pulse", format_utc(result.run.pulse)},
         {"attempt", result.run.attempt},
         {"startedAt", format_utc(result.run.started)},
         {"latenessMs",
          lateness ? nlohmann::ordered_json(lateness->count()) : nlohmann::ordered_json{}},
         {"durationMs", result.duration.count()},
         {"success", result.succeeded()},
         {"exitStatus", or_null(result.exit_status)},
         {"signal", or_null(result.signal)},
         {"timeLimit", result.past_time_limit},
         {"error",
          result.succeeded() ? nlohmann::ordered_json{}
                             : nlohmann::ordered_json(reason_of(result))},
         {"userMs", result.user_time.count()},
         {"systemMs", result.system_time.count()},
         {"memoryMaxBytes", result.memory_max},
         {"outputBytes", result.output_total},
         {"output", result.output}});
  }
  out << to_text(list) << '\n';
}

void print_output(const CommandResult& result, std::ostream& out) {
  std::vector<std::string> lines;
  std::istringstream text{result.output};
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::size_t from = lines.size() > lines_max ? lines.size() - lines_max : 0;
  if (from > 0 || result.output_total > result.output.size()) out << "    …\n";
  for (std::size_t i = from; i < lines.size(); ++i) out << "    " << escape(lines[i]) << '\n';
}

void print_text(const std::vector<HistoryEntry>& entries, std::ostream& out) {
  const Zone zone = Zone::host();
  for (const HistoryEntry& entry : entries) {
    const CommandResult& result = entry.result;
    out << local_text(result.run.started, zone) << "  " << escape(result.run.task) << "  "
        << (result.succeeded() ? "succeeded" : "failed") << " after "
        << duration_text(result.duration) << "  (" << name_of(result.run.reason);
    if (result.run.attempt > 1) out << ", attempt " << result.run.attempt;
    if (const auto lateness = lateness_of(entry))
      out << ", " << duration_text(*lateness) << " late";
    out << ')';
    // The last line of its output stands below.
    if (!result.succeeded()) {
      CommandResult bare = result;
      bare.output.clear();
      out << ": " << escape(reason_of(bare));
    }
    out << '\n';
    print_output(result, out);
  }
}

Exit show(const Arguments& arguments, Console& console) {
  const std::size_t count = read_number("--count", arguments.count, 1);
  const std::string state = find_state(arguments.state);
  const auto tasks = read_sqlite_state(state);  // says so if there is none
  const auto entries = read_history({.state = state, .task = arguments.task, .count = count});
  if (entries.empty() && arguments.task &&
      std::ranges::none_of(
          tasks, [&](const TaskRecord& record) { return record.config.name == *arguments.task; })) {
    throw std::runtime_error("there is no task " + quote(*arguments.task) +
                             "; dutiful status shows those that there are");
  }
  if (arguments.json) {
    print_json(entries, console.out);
  } else {
    print_text(entries, console.out);
  }
  return Exit::done;
}

}  // namespace

void add_history(CLI::App& program, Action& chosen) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand("history", "Show the recent runs, newest first");
  command->add_option("TASK", arguments->task, "Only the runs of this task");
  command->add_option("--state", arguments->state)
      ->type_name("FILE")
      ->description(
          "The state, or the task file that it belongs to (default: the only state in this "
          "directory)");
  command->add_option("--count", arguments->count, "How many runs to show")
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print a JSON array");
  command->callback(
      [=, &chosen] { chosen = [=](Console& console) { return show(*arguments, console); }; });
}

}  // namespace dutiful
