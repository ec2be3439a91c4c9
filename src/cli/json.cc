#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace dutiful {

std::string to_text(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace dutiful
