#include "daemon/api_query.h"

#include <algorithm>
#include <charconv>
#include <variant>

#include "text/quote.h"
#include "time/clock_range.h"
#include "time/duration.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& value, const std::string& what) {
  throw BadRequest("the parameter \"" + std::string{name} + "\" is " + quote(value) +
                   ", which is not " + what);
}

std::string list_of(std::initializer_list<std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list.empty() ? "none" : list;
}

}  // namespace

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  if (!is_whole || text.starts_with('-')) return std::nullopt;
  return number;
}

ApiQuery::ApiQuery(const http::Request& request, std::initializer_list<std::string_view> known)
    : request_(request) {
  for (auto field = request.query.begin(); field != request.query.end(); ++field) {
    if (std::ranges::find(known, field->name) == known.end()) {
      throw BadRequest("unknown parameter " + quote(field->name) +
                       "; this address has: " + list_of(known));
    }
    const auto same = [&](const http::Field& other) { return other.name == field->name; };
    if (std::any_of(std::next(field), request.query.end(), same)) {
      throw BadRequest("the parameter \"" + field->name + "\" is there twice");
    }
  }
}

std::optional<std::string> ApiQuery::text(std::string_view name) const {
  const std::string* const value = request_.parameter(name);
  return value == nullptr || value->empty() ? std::nullopt : std::optional{*value};
}

std::optional<std::int64_t> ApiQuery::number(std::string_view name,
                                             std::int64_t min,
                                             std::int64_t max) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto number = parse_number(*value);
  if (!number || *number < min || *number > max) {
    refuse(
        name, *value, "a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return number;
}

std::optional<Instant> ApiQuery::instant(std::string_view name) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto time = parse_timestamp(*value);
  if (!time || !time->offset) {
    refuse(name, *value, "a time with an offset, as 2025-11-02T01:30:00Z");
  }
  return into_clock_range(time->instant(*time->offset));
}

std::optional<Instant> ApiQuery::past(std::string_view name, Instant now) const {
  const auto value = text(name);
  if (!value) return std::nullopt;
  if (const auto time = parse_timestamp(*value); time && time->offset) {
    return into_clock_range(time->instant(*time->offset));
  }
  const auto duration = parse_duration(*value);
  if (const auto* ago = std::get_if<Duration>(&duration)) return into_clock_range(now - *ago);
  refuse(name,
         *value,
         "a time with an offset, as 2025-11-02T01:30:00Z, or a duration before now, as 2h");
}

}  // namespace dutiful
