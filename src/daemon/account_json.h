// An account as JSON, for `account --json` and whoever else shows accounts.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/account_report.h"

namespace dutiful {

// One object, as docs/formats.md describes it. A name that was read from a state may be no UTF-8:
// the text must be made with a handler that replaces it.
[[nodiscard]] nlohmann::ordered_json json_of(const TaskAccount& account);

}  // namespace dutiful
