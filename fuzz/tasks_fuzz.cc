// Any text is either a task file whose tasks can be run, or refused with problems that have a
// place.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include <dutiful/cron.h>

#include "tasks/task_file.h"

namespace dutiful {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "violated: " << what << '\n';
  std::abort();
}

void check_tasks(const TaskFile& file) {
  std::set<std::string> names;
  for (const TaskDefinition& task : file.tasks) {
    require(!task.name.empty() && names.insert(task.name).second, "names are unique");
    require(CronExpression::try_parse(task.cron).has_value(), "expressions are valid");
    require(!task.command.arguments.empty(), "there is something to run");
    require(!task.command.arguments.front().empty(), "there is a program to run");
    require(task.retry_delay >= Duration::zero(), "delays are not negative");
    require(task.time_limit >= Duration::zero(), "limits are not negative");
    for (const std::string& argument : task.command.arguments)
      require(argument.find('\0') == std::string::npos, "arguments end where they end");
    const Notifications& notifications = task.notifications;
    for (const auto* arguments :
         {&notifications.on_failure, &notifications.on_recovery, &notifications.on_success}) {
      require(arguments->empty() || !arguments->front().empty(), "notifications have a program");
      for (const std::string& argument : *arguments)
        require(argument.find('\0') == std::string::npos, "arguments end where they end");
    }
    require(!notifications.after ||
                (*notifications.after >= 1 && *notifications.after <= notify_after_max),
            "notify_after is a number of failures");
    for (const auto& [name, value] : task.command.environment)
      require(!name.empty() && name.find('=') == std::string::npos, "variables have names");
  }
}

void check_problems(const TaskFile& file, std::string_view text) {
  const auto lines = std::ranges::count(text, '\n') + 1;
  std::pair<std::uint32_t, std::uint32_t> last{1, 1};
  for (const auto& [place, message] : file.problems) {
    const std::pair at{place.line, place.column};
    require(!message.empty(), "a problem says what it is");
    require(std::ranges::none_of(message, [](char c) { return c >= 0 && c < ' '; }),
            "a problem is one line");
    require(last <= at && place.line <= lines, "problems are in the order of the file");
    require(place.column >= 1 && place.column <= text.size() + 1, "problems lie in the file");
    last = at;
  }
}

}  // namespace
}  // namespace dutiful

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const dutiful::TaskFile file = dutiful::parse_task_file(text);
  dutiful::check_tasks(file);
  dutiful::check_problems(file, text);
  dutiful::require(file.problems.empty() || file.tasks.empty(), "tasks or problems");
  return 0;
}
