#include "cli/number_argument.h"

#include <charconv>
#include <limits>

#include "cli/commands.h"
#include "text/quote.h"

namespace dutiful {

std::uint64_t read_number(const char* option, const std::string& text, std::uint64_t least) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string what = std::string{option} + ": " + quote(text);
  if (rest != end || error == std::errc::invalid_argument ||
      (error == std::errc{} && number < least)) {
    throw UsageError(what + " is not a number; write " + std::to_string(least) + " or more");
  }
  if (error != std::errc{} || number > most) {
    throw UsageError(what + " is too large; write " + std::to_string(most) + " or less");
  }
  return number;
}

}  // namespace dutiful
