// Crontabs, as Vixie's cron and its descendants read them.
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

// What one line has cron do.
struct CrontabJob {
  std::string cron{};                                // a POSIX expression, due in the same minutes
  std::string user{};                                // empty in a user's crontab
  std::string command{};                             // for the shell
  std::string input{};                               // what it reads
  std::map<std::string, std::string> environment{};  // from the lines above
};

// A line that the reader of the task file should see: a comment, a job, or something that has no
// equivalent.
struct CrontabLine {
  std::uint32_t number = 1;
  std::string text{};
  std::optional<CrontabJob> job{};
  std::string no_equivalent{};  // why; empty where there is one
};

// In the order of the crontab, blank lines and variables left out.
[[nodiscard]] std::vector<CrontabLine> read_crontab(std::string_view text, CrontabForm form);

}  // namespace dutiful
