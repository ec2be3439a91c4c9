// The cron that other programs speak, read only to say what it would be in POSIX.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cron/field.h"

namespace dutiful {

// The number of a month or a weekday that goes by that name in this field (mon, Monday, JAN);
// nothing where it is none.
[[nodiscard]] std::optional<unsigned> value_of_name(const FieldKind& kind, std::string_view name);

// What a field chooses that may also hold steps (*/15, 1-30/5), names, weekday 7 for Sunday and
// ranges that wrap around (22-2); nothing where its meaning differs from program to program.
[[nodiscard]] std::optional<std::uint64_t> read_nonposix_field(const FieldKind& kind,
                                                               std::string_view text);

// The expression that a macro such as @daily stands for; empty for an unknown one, and for @reboot,
// which names no time.
[[nodiscard]] std::string_view expression_of_macro(std::string_view macro);

}  // namespace dutiful
