// Crontabs, as Vixie cron and its descendants read them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dutiful {

enum class CrontabForm {
  user,    // crontab -e
  system,  // /etc/crontab, /etc/cron.d/: the sixth field is the user
};

// The job of one line.
struct CrontabJob {
  std::string cron{};                                // a POSIX expression, due at the same minutes
  std::string user{};                                // empty in a user's crontab
  std::string command{};                             // for the shell
  std::string input{};                               // its standard input
  std::map<std::string, std::string> environment{};  // from the lines above
};

// A line that appears in the task file: a comment, a job, or a line without an equivalent.
struct CrontabLine {
  std::uint32_t number = 1;
  std::string text{};
  std::optional<CrontabJob> job{};
  std::string no_equivalent{};  // why it has none; empty if it has one
};

// In the order of the crontab, without blank lines and variables.
[[nodiscard]] std::vector<CrontabLine> read_crontab(std::string_view text, CrontabForm form);

}  // namespace dutiful
