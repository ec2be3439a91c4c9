#include "cli/number_argument.h"

#include <charconv>

#include "cli/command_line.h"
#include "text/quote.h"

namespace dutiful {

std::uint64_t read_number(const char* option, const std::string& text, NumberRange range) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool is_number = rest == end && error != std::errc::invalid_argument;
  const char* fault = !is_number                                    ? "is not a number"
                      : error != std::errc{} || number > range.most ? "is too large"
                      : number < range.least                        ? "is too small"
                                                                    : nullptr;
  if (fault != nullptr) {
    throw UsageError(std::string{option} + ": " + quote(text) + ' ' + fault +
                     "; use a number from " + std::to_string(range.least) + " to " +
                     std::to_string(range.most));
  }
  return number;
}

}  // namespace dutiful
