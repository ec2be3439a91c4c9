// Labels of the Prometheus text format.
#pragma once

#include <string>
#include <string_view>

namespace dutiful {

// name="value". In the value, quotes, backslashes and newlines are escaped as the format wants it.
// Other control characters and bytes that are not UTF-8, which a label cannot contain or a terminal
// would interpret, are shown as by escape(): \xNN. So two values may result in the same label.
[[nodiscard]] std::string label(std::string_view name, std::string_view value);

}  // namespace dutiful
