// Converts a crontab to a task file.
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
  std::string source{};  // the name of the crontab, for a comment in the task file
  CrontabForm form = CrontabForm::user;
  // The home directory of a user, in which cron runs commands. The empty name means the owner of a
  // user crontab.
  std::function<std::optional<std::string>(const std::string& user)> home_of =
      [](const std::string&) { return std::nullopt; };
};

struct Import {
  // A part of the crontab that the task file does not reproduce.
  struct Remark {
    std::uint32_t line;
    std::string message;  // one printable line
  };

  std::string task_file;  // always loads without problems
  std::vector<Remark> remarks;
};

// Each job becomes a task that is due at the same minutes and runs the same command with the same
// variables. Anything without an exact equivalent is left out, with a remark; only MAILTO becomes
// the nearest thing, an on_failure that mails the failures.
[[nodiscard]] Import import_crontab(std::string_view text, const ImportOptions& options);

}  // namespace dutiful
