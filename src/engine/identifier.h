// Names for schedulers that no two of them share (RULES P5).
#pragma once

#include <string>

namespace dutiful {

// 32 random hexadecimal digits.
[[nodiscard]] std::string make_identifier();

}  // namespace dutiful
