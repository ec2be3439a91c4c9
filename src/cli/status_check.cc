#include "cli/status_check.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "cli/command_line.h"
#include "daemon/local_time.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// How many tasks the line names. It has to fit into a message of a monitoring system.
constexpr std::size_t named_max = 3;

// "2 tasks are failing: a (…), b (…)"
std::string list_of(const char* what, const std::vector<std::string>& tasks) {
  std::string text =
      std::to_string(tasks.size()) + (tasks.size() == 1 ? " task is " : " tasks are ") + what;
  for (std::size_t i = 0; i < std::min(tasks.size(), named_max); ++i) {
    text += (i == 0 ? ": " : ", ") + tasks[i];
  }
  if (tasks.size() > named_max) {
    text += " and " + std::to_string(tasks.size() - named_max) + " more";
  }
  return text;
}

std::string service_trouble(const HolderStatus& service) {
  switch (service.answer) {
    case HolderStatus::Answer::held:
      return "";
    case HolderStatus::Answer::free:
      return service.holder ? "no daemon is running on this state: process " +
                                  std::to_string(service.holder->process) + " was killed or crashed"
                            : "no daemon is running on this state";
    case HolderStatus::Answer::unknown:
      break;
  }
  return "cannot tell whether a daemon is running on this state: " + on_one_line(service.trouble);
}

}  // namespace

void read_allowed(const char* option, const std::string& text, Tolerance& tolerance) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view{text}.substr(begin, comma - begin);
    begin = comma + 1;
    if (part == "failing") {
      tolerance.failing = true;
    } else if (part == "overdue") {
      tolerance.overdue = true;
    } else {
      throw UsageError(std::string{option} + ": unknown value " + quote(part) +
                       "; write failing, overdue, or failing,overdue");
    }
  }
}

CheckResult check_status(const StateStatus& status,
                         const Tolerance& tolerance,
                         const Zone& zone,
                         Instant now) {
  CheckResult health;
  std::vector<std::string> failing;
  std::vector<std::string> overdue;
  for (const RecordedTask& task : status.tasks) {
    if (!tolerance.failing && is_failing(task)) {
      health.failing.push_back(task.name);
      failing.push_back(escape(task.name) +
                        (task.last_success
                             ? " (no success since " + local_text(*task.last_success, zone) + ')'
                             : " (has never succeeded)"));
    }
    if (!tolerance.overdue && task.overdue_since &&
        now - *task.overdue_since > tolerance.max_overdue) {
      health.overdue.push_back(task.name);
      overdue.push_back(escape(task.name) + " (since " + local_text(*task.overdue_since, zone) +
                        ')');
    }
  }
  const auto add = [&](const std::string& trouble) {
    if (trouble.empty()) return;
    health.reason += (health.reason.empty() ? "" : "; ") + trouble;
  };
  add(service_trouble(status.service));
  if (!failing.empty()) add(list_of("failing", failing));
  if (!overdue.empty()) add(list_of("overdue", overdue));
  return health;
}

}  // namespace dutiful
