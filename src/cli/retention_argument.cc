#include "cli/retention_argument.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/command_line.h"
#include "cli/number_argument.h"
#include "text/characters.h"
#include "text/quote.h"
#include "time/duration.h"

namespace dutiful {
namespace {

bool is_all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> sizes{
    {{"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", std::uint64_t{1024} * 1024}}};

}  // namespace

void read_retention(const char* option, const std::string& text, Retention& retention) {
  std::optional<std::size_t> runs;
  std::optional<Duration> age;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(std::string{option} + ": " + quote(text) + ' ' + why +
                     "; write a number of runs such as 100, an age such as 14d, or both: 100,14d");
  };
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    begin = comma + 1;
    if (is_all_digits(part)) {
      if (runs) refuse("has two numbers of runs");
      runs = read_number(option, part, {});
      continue;
    }
    const auto parsed = parse_duration(part);
    if (const auto* fault = std::get_if<DurationFault>(&parsed)) {
      if (*fault == DurationFault::malformed) refuse("is not an amount of history");
      throw UsageError(std::string{option} + ": " + explain_fault(part, *fault));
    }
    if (age) refuse("has two ages");
    age = std::get<Duration>(parsed);
  }
  retention.runs = runs.value_or(0);
  retention.age = age.value_or(Duration::zero());
}

std::uint64_t read_size(const char* option, const std::string& text, std::uint64_t most) {
  const auto refuse = [&](const char* why) {
    throw UsageError(std::string{option} + ": " + quote(text) + ' ' + why +
                     "; write a number of bytes, or a size such as 8KiB, up to " +
                     std::to_string(most / 1024) + "KiB");
  };
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
  const auto* const size =
      std::ranges::find(sizes, unit, &std::pair<std::string_view, std::uint64_t>::first);
  if (error == std::errc::invalid_argument || size == sizes.end()) refuse("is not a size");
  if (error != std::errc{} || number > most / size->second) refuse("is too large");
  return number * size->second;
}

}  // namespace dutiful
