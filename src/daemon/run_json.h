// A run as JSON, for `history --json` and whoever else shows runs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/history_entry.h"

namespace dutiful {

// One object, as docs/formats.md describes it. The output may be no UTF-8: the text must be made
// with a handler that replaces it.
[[nodiscard]] nlohmann::ordered_json json_of(const HistoryEntry& entry);

}  // namespace dutiful
