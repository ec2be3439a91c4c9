// A crontab turned into a task file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/crontab.h"

namespace dutiful {

struct ImportOptions {
  std::string source{};  // where the crontab comes from, for the reader of the task file
  CrontabForm form = CrontabForm::user;
  // The home directory of a user, the empty name being the owner of a user's crontab. cron runs
  // commands there.
  std::function<std::optional<std::string>(const std::string& user)> home_of =
      [](const std::string&) { return std::nullopt; };
};

struct Import {
  // Something in the crontab that the task file does not do.
  struct Remark {
    std::uint32_t line;
    std::string message;  // one line, fit to be shown
  };

  std::string task_file;  // loads without a problem, always
  std::vector<Remark> remarks;
};

// Each job becomes a task that is due in the same minutes and runs the same command with the same
// variables. What has no exact equivalent is left out, and remarked.
[[nodiscard]] Import import_crontab(std::string_view text, const ImportOptions& options);

}  // namespace dutiful
