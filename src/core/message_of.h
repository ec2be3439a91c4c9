// What an error says, whatever it is.
#pragma once

#include <exception>
#include <string>

namespace dutiful {

// Empty for none. If memory ran out, it says so in words; anything that is not a std::exception is
// an "unknown error".
[[nodiscard]] std::string message_of(const std::exception_ptr& error);

}  // namespace dutiful
