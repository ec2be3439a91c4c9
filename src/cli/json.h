// JSON as text.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace dutiful {

// The document on one line. Bytes that are not UTF-8 cannot stand in JSON; U+FFFD takes their
// place.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& document);

}  // namespace dutiful
