// dutiful history: the recent runs.

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/follow.h"
#include "cli/json.h"
#include "cli/number_argument.h"
#include "cli/run_text.h"
#include "cli/state_argument.h"
#include "cli/subcommands.h"
#include "cli/time_argument.h"
#include "daemon/history_follower.h"
#include "daemon/history_reader.h"
#include "daemon/run_json.h"
#include "daemon/task_status.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// How many runs are shown if neither --count nor --since says it.
constexpr std::size_t count_usual = 20;

// How many are in memory at the same time.
constexpr std::size_t page_max = 1000;

struct Arguments {
  std::optional<std::string> task;
  std::optional<std::string> state;
  std::optional<std::string> count;
  std::optional<std::string> since;
  bool failed = false;
  bool full = false;
  bool follow = false;
  bool json = false;
};

// What the arguments ask for.
struct Request {
  RunQuery query{};
  std::size_t count = count_usual;
};

Request request_of(const Arguments& arguments, const Zone& zone, Instant now) {
  Request request{.query = {.task = arguments.task, .unsuccessful = arguments.failed}};
  if (arguments.since) {
    request.query.since = read_past("--since", *arguments.since, zone, now);
    request.count = std::numeric_limits<std::size_t>::max();
  }
  if (arguments.count) request.count = read_number("--count", *arguments.count, {.least = 1});
  return request;
}

class RunPrinter {
 public:
  RunPrinter(const Arguments& arguments, const Zone& zone, std::ostream& out)
      : arguments_(arguments), zone_(zone), out_(out), array_(out) {}

  void print(const HistoryEntry& entry) {
    ++printed_;
    if (!arguments_.json) {
      print_run(entry, zone_, arguments_.full ? OutputShown::all : OutputShown::last_lines, out_);
    } else if (arguments_.follow) {
      out_ << to_text(json_of(entry)) << '\n';
    } else {
      array_.print(json_of(entry));
    }
  }

  // To be called once, unless the printing never ends.
  void finish() {
    if (arguments_.json) {
      array_.finish();
    } else if (printed_ == 0) {
      const bool is_filtered = arguments_.failed || arguments_.since;
      out_ << (is_filtered ? "no such runs recorded" : "no runs recorded")
           << (arguments_.task ? " for task " + quote(*arguments_.task) : "") << '\n';
    }
  }

  [[nodiscard]] std::size_t printed() const { return printed_; }

 private:
  const Arguments& arguments_;
  const Zone& zone_;
  std::ostream& out_;
  ArrayPrinter array_;
  std::size_t printed_ = 0;
};

// The runs that only the state records, because they have not ended or were interrupted.
std::vector<HistoryEntry> unfinished_runs(const std::vector<RecordedTask>& tasks,
                                          const RunQuery& query,
                                          Instant now) {
  std::vector<HistoryEntry> entries;
  for (const RecordedTask& task : tasks) {
    auto run = unfinished_run(task, now);
    if (run && matches(*run, query)) entries.push_back(std::move(*run));
  }
  std::ranges::stable_sort(entries, std::ranges::greater{}, [](const HistoryEntry& entry) {
    return entry.result.run.started;
  });
  return entries;
}

bool is_same_run(const HistoryEntry& one, const HistoryEntry& other) {
  return one.result.run.task == other.result.run.task &&
         one.result.run.started == other.result.run.started;
}

// Page by page, because there may be millions.
template <typename Visit>
void for_each_run(const HistoryReader& reader, const Request& request, Visit visit) {
  RunQuery query = request.query;
  for (std::size_t left = request.count; left > 0;) {
    query.limit = std::min(left, page_max);
    const RunPage page = reader.read(query);
    for (const HistoryEntry& entry : page.runs) visit(entry);
    left -= page.runs.size();
    if (!page.next) break;
    query.before = page.next;
  }
}

void list(const HistoryReader& reader,
          Request request,
          std::vector<HistoryEntry> unfinished,
          RunPrinter& printer) {
  if (!unfinished.empty()) {
    // The state was read first: a run that has ended since is in both, and not in neither.
    RunQuery newest = request.query;
    newest.limit = page_max;
    const RunPage page = reader.read(newest);
    std::erase_if(unfinished, [&](const HistoryEntry& entry) {
      return std::ranges::any_of(
          page.runs, [&](const HistoryEntry& other) { return is_same_run(entry, other); });
    });
  }
  for (const HistoryEntry& entry : unfinished) {
    if (request.count == 0) break;
    printer.print(entry);
    --request.count;
  }
  for_each_run(reader, request, [&](const HistoryEntry& entry) { printer.print(entry); });
  printer.finish();
}

// The recent runs and then the new ones, the oldest first.
void follow(const std::string& state,
            const HistoryReader& reader,
            Request request,
            RunPrinter& printer,
            std::ostream& out) {
  const Follow waiting;
  const std::int64_t newest = reader.newest_id();
  request.query.before = newest + 1;
  std::vector<HistoryEntry> recent;
  for_each_run(reader, request, [&](const HistoryEntry& entry) { recent.push_back(entry); });
  std::ranges::reverse(recent);
  for (const HistoryEntry& entry : recent) printer.print(entry);
  HistoryFollower follower{state, newest};
  do {
    follower.take([&](const HistoryEntry& entry) {
      if (matches(entry, request.query)) printer.print(entry);
    });
  } while (out.flush() && waiting.wait());
}

Exit show(const Arguments& arguments, Console& console) {
  const Zone zone = Zone::host();
  const Instant now = console.now();
  const Request request = request_of(arguments, zone, now);
  const std::string state = state_of(arguments.state);
  const auto tasks = read_state([&] { return read_status(state, Calendar{zone}, now).tasks; });
  const auto reader = read_state([&] { return HistoryReader{state}; });
  const bool is_unknown =
      arguments.task &&
      std::ranges::find(tasks, *arguments.task, &RecordedTask::name) == tasks.end();
  if (is_unknown &&
      read_state([&] { return reader.read({.task = arguments.task, .limit = 1}); }).runs.empty()) {
    throw std::runtime_error("unknown task " + quote(*arguments.task) +
                             "; dutiful status lists the tasks");
  }
  RunPrinter printer{arguments, zone, console.out};
  read_state([&] {
    if (arguments.follow) {
      follow(state, reader, request, printer, console.out);
    } else {
      list(reader, request, unfinished_runs(tasks, request.query, now), printer);
    }
  });
  return Exit::done;
}

}  // namespace

CommandSyntax history_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "history",
      .description = "Show recent runs, most recently ended first",
      .arguments = {{.name = "TASK",
                     .description = "Show only the runs of this task",
                     .target = &arguments->task}},
      .options = {state_option(arguments->state),
                  {.name = "--count",
                   .value = "N",
                   .description =
                       "How many runs to show (default: 20, or all of them with --since)",
                   .target = &arguments->count},
                  {.name = "--failed",
                   .description = "Show only runs that failed or were interrupted",
                   .target = &arguments->failed},
                  {.name = "--since",
                   .value = "TIME",
                   .description = "Show only runs that ended since then: a time in ISO 8601, or "
                                  "how long ago it was, such as 2h",
                   .target = &arguments->since},
                  {.name = "--full",
                   .description = "Print all of the output that is kept, not its last lines",
                   .target = &arguments->full},
                  {.name = "--follow",
                   .description = "Print the oldest first, and then each run when it ends",
                   .target = &arguments->follow},
                  {.name = "--json",
                   .description = "Print a JSON array, or with --follow one object a line",
                   .target = &arguments->json}},
      .example = "dutiful history backup --failed --since 7d",
      .action = [=](Console& console) { return show(*arguments, console); }};
}

}  // namespace dutiful
