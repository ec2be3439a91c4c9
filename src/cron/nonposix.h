// The cron syntax of other programs, read only to find its POSIX equivalent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cron/field.h"

namespace dutiful {

// The number of the month or weekday of that name in this field (mon, Monday, JAN); nothing if it
// is not a name.
[[nodiscard]] std::optional<unsigned> value_of_name(const FieldKind& kind, std::string_view name);

// The values of a field that may also have steps (*/15, 1-30/5), names, weekday 7 for Sunday and
// ranges that wrap around (22-2); nothing if programs read the field differently.
[[nodiscard]] std::optional<std::uint64_t> read_nonposix_field(const FieldKind& kind,
                                                               std::string_view text);

// The expression that a macro such as @daily stands for; empty for an unknown one, and for @reboot,
// which names no time.
[[nodiscard]] std::string_view expression_of_macro(std::string_view macro);

}  // namespace dutiful
