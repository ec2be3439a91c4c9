// The five fields of a crontab line, as Vixie cron and its descendants read them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>

namespace dutiful {

// Why a line of a crontab has no exact equivalent in a task file.
struct NoEquivalent {
  std::string reason;  // "the hour field …"
};

// The POSIX expression that is due at the same minutes.
//
// Besides numbers, ranges and lists, these crons read steps (*/5, 10-30/5), names (mon, jan) and
// weekday 7. They treat a field as unrestricted if its text *begins* with a star, and then join day
// and weekday by "and"; POSIX (RULES C4) requires a lone star. So `0 0 */2 * 1` is every Monday
// with an odd date there, and has no equivalent here.
[[nodiscard]] std::variant<std::string, NoEquivalent> to_posix(
    const std::array<std::string_view, 5>& fields);

}  // namespace dutiful
