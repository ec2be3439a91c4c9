// The five fields of a crontab line, as Vixie's cron and its descendants read them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>

namespace dutiful {

// Why a line of a crontab has no exact equivalent in a task file.
struct NoEquivalent {
  std::string reason;  // "the hour field …": goes on from the line
};

// The POSIX expression that is due in the same minutes.
//
// Beside numbers, ranges and lists these crons read steps (*/5, 10-30/5), names (mon, jan) and
// weekday 7. They take a field for unrestricted when its text *begins* with a star, and join day
// and weekday by "and" where one of them is; POSIX (RULES C4) wants a lone star. So `0 0 */2 * 1`
// is every Monday with an odd date there, and no expression here.
[[nodiscard]] std::variant<std::string, NoEquivalent> to_posix(
    const std::array<std::string_view, 5>& fields);

}  // namespace dutiful
