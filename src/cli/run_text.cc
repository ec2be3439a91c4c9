#include "cli/run_text.h"

#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/event_text.h"
#include "daemon/local_time.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// How many lines of a run's output are printed.
constexpr std::size_t lines_max = 5;

void print_output(const CommandResult& result, OutputShown shown, std::ostream& out) {
  std::vector<std::string> lines;
  std::istringstream text{result.output};
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const bool all = shown == OutputShown::all || lines.size() <= lines_max;
  const std::size_t from = all ? 0 : lines.size() - lines_max;
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

}  // namespace

void print_run(const HistoryEntry& entry, const Zone& zone, OutputShown shown, std::ostream& out) {
  const CommandResult& result = entry.result;
  out << local_text(result.run.started, zone) << "  " << escape(result.run.task) << "  "
      << result_name_of(entry);
  if (entry.end == HistoryEntry::End::recorded) out << " after " << duration_text(result.duration);
  if (entry.end == HistoryEntry::End::none) out << " for " << duration_text(result.duration);
  const std::string circumstances = circumstances_of(entry);
  if (!circumstances.empty()) out << "  (" << circumstances << ')';
  // Without the last line of the output, which is printed below.
  HistoryEntry bare = entry;
  bare.result.output.clear();
  const std::string error = error_of(bare);
  if (!error.empty()) out << ": " << on_one_line(error);
  out << '\n';
  print_output(result, shown, out);
}

}  // namespace dutiful
