// A name that nobody else has.
#pragma once

#include <string>

namespace dutiful {

// 32 random hexadecimal digits: for a scheduler (RULES P5), for a daemon.
[[nodiscard]] std::string random_name();

}  // namespace dutiful
