// A point in time on the command line.
#pragma once

#include <string>

#include <dutiful/zone.h>

namespace dutiful {

// An instant in ISO 8601. A local time that occurs twice means its first occurrence; one that the
// clocks skip means the moment just before they are set forward. Throws UsageError, which names the
// option.
[[nodiscard]] Instant read_instant(const char* option, const std::string& text, const Zone& zone);

// The same, or a duration before now: 2h.
[[nodiscard]] Instant read_past(const char* option,
                                const std::string& text,
                                const Zone& zone,
                                Instant now);

}  // namespace dutiful
