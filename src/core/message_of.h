// The message of any exception.
#pragma once

#include <exception>
#include <string>

namespace dutiful {

// Empty for a null pointer. Says in words that memory ran out. Anything that is not a
// std::exception is an "unknown error".
[[nodiscard]] std::string message_of(const std::exception_ptr& error);

}  // namespace dutiful
