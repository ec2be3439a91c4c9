// Compiled zone files (TZif, RFC 8536), as zic writes them into the system's zone database.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "time/posix_rule.h"

namespace dutiful {

struct TzifContents {
  std::chrono::seconds initial;         // the offset before the first transition
  std::vector<Transition> transitions;  // strictly ascending
  std::optional<PosixRule> rule;        // applies after the last transition
};

// Reads a zone file of any version and form (`zic -b fat` or `-b slim`). If it is damaged or counts
// leap seconds, returns the reason, in words that follow "the zone file".
[[nodiscard]] std::variant<TzifContents, std::string> parse_tzif(std::string_view bytes);

}  // namespace dutiful
