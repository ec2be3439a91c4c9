// The target of a request: its path and its query.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"

namespace dutiful::http {

struct Target {
  std::string path{};  // as it was sent
  std::vector<std::string> segments{};
  std::vector<Field> query{};
  std::string error{};  // why the target is refused; empty if it is not
};

// Splits and decodes "/tasks/a%20b?limit=5". Refuses everything that is not a path, percent signs
// without two hexadecimal digits, NUL, text that is not UTF-8, the segments "." and "..", and more
// than `parameters_max` parameters. In the query, "+" is a space.
[[nodiscard]] Target parse_target(std::string_view text, std::size_t parameters_max);

// Decodes %41; nothing if that is not possible, or if the result has a NUL or is not UTF-8.
enum class Plus : bool { itself, space };
[[nodiscard]] std::optional<std::string> decode_percent(std::string_view text, Plus plus);

}  // namespace dutiful::http
