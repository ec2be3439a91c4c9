// Any text, read as a crontab of either form, becomes a task file that loads.

#include <cstdlib>
#include <iostream>

#include "tasks/import_crontab.h"
#include "tasks/task_file.h"

namespace dutiful {
namespace {

void check(std::string_view text, const ImportOptions& options) {
  const Import import = import_crontab(text, options);
  const TaskFile file = parse_task_file(import.task_file);
  std::size_t jobs = 0;
  for (const CrontabLine& line : read_crontab(text, options.form)) jobs += line.job ? 1 : 0;
  if (file.problems.empty() && file.tasks.size() == jobs) return;
  std::cerr << "violated: what is imported loads\n" << import.task_file;
  for (const auto& [place, message] : file.problems)
    std::cerr << place.line << ':' << place.column << ": " << message << '\n';
  std::abort();
}

}  // namespace
}  // namespace dutiful

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  dutiful::check(text, {.source = "crontab"});
  dutiful::check(text,
                 {.source = std::string{text.substr(0, 8)}, .form = dutiful::CrontabForm::system});
  return 0;
}
