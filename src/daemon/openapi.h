// The description of the API.
#pragma once

#include <string_view>

namespace dutiful {

// openapi.json, which is beside this file.
[[nodiscard]] std::string_view openapi_document();

}  // namespace dutiful
