#include "cron/diagnosis.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cron/nonposix.h"
#include "text/quote.h"

namespace dutiful {
namespace {

constexpr std::string_view five_fields = "five fields: minute hour day month weekday";

// The offending characters, as part of the text they were found in, and what is wrong with them.
struct Fault {
  std::string_view where;
  std::string reason;
  std::string equivalent;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool has_any(std::string_view text, std::string_view characters) {
  return text.find_first_of(characters) != std::string_view::npos;
}

std::vector<std::string_view> split_fields(std::string_view text) {
  std::vector<std::string_view> fields;
  while (true) {
    const auto begin = std::ranges::find_if_not(text, is_blank);
    if (begin == text.end()) return fields;
    const auto end = std::find_if(begin, text.end(), is_blank);
    fields.push_back(text.substr(static_cast<std::size_t>(begin - text.begin()),
                                 static_cast<std::size_t>(end - begin)));
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

// A form that other programs know: `reason`, and the whole field in POSIX if it has a meaning.
Fault nonposix(const FieldKind& kind,
               std::string_view field,
               std::string_view where,
               const std::string& reason,
               std::string_view lead = "; use ") {
  const auto mask = read_nonposix_field(kind, field);
  if (!mask) return {where, reason, {}};
  const std::string equivalent = print_field(kind, *mask);
  return {where, reason + std::string{lead} + equivalent, equivalent};
}

// The fault of a character that no form of cron has, if there is one.
std::optional<Fault> alien_character(std::string_view element) {
  for (std::size_t i = 0; i < element.size(); ++i) {
    const char c = element[i];
    if (is_digit(c) || is_letter(c) || has_any({&c, 1}, "*-+./?#")) continue;
    // A character beyond ASCII is shown whole.
    const auto end = std::find_if(element.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                  element.end(),
                                  [](char next) { return (next & 0xc0) != 0x80; });
    const auto where = element.substr(i, static_cast<std::size_t>(end - element.begin()) - i);
    std::string reason = "has the character " + quote(where);
    reason += has_any(where, "\n\r\f\v") ? "; only spaces and tabs separate fields"
                                         : "; it takes only digits, commas, hyphens or *";
    return Fault{where, reason, {}};
  }
  return std::nullopt;
}

// The fault of a number that is not written in plain decimal digits, if it is one.
std::optional<Fault> number_notation(std::string_view element) {
  const std::string shown = quote(element);
  if (has_any(element, "+") || element.find("--") != std::string_view::npos ||
      (element.starts_with('-') && element.size() > 1)) {
    return Fault{element, "has a sign in " + shown + "; numbers have none", {}};
  }
  if (has_any(element, ".")) {
    return Fault{element, "has a decimal point in " + shown + "; numbers are whole", {}};
  }
  for (const std::string_view term : split_at(element, '-')) {
    if (term.empty() || !is_digit(term.front())) continue;
    const bool prefix = term.size() > 1 && term[0] == '0' && has_any(term.substr(1, 1), "xXbBoO");
    if (prefix || has_any(term.substr(term.size() - 1), "hH")) {
      return Fault{term, "has " + quote(term) + "; numbers are decimal", {}};
    }
    const auto letter = std::ranges::find_if_not(term, is_digit);
    if (letter != term.end() && (*letter == 'e' || *letter == 'E')) {
      return Fault{term, "has an exponent in " + shown + "; numbers are plain digits", {}};
    }
  }
  return std::nullopt;
}

// The fault of a word where a number should be, if there is one.
std::optional<Fault> name(const FieldKind& kind, std::string_view field, std::string_view element) {
  for (const std::string_view term : split_at(element, '-')) {
    if (term.empty() || !std::ranges::all_of(term, is_letter)) continue;
    const bool known = value_of_name(kind, term).has_value();
    const std::string reason =
        (known ? "has the name " : "has the word ") + quote(term) + "; POSIX cron has only numbers";
    return nonposix(kind, field, term, reason);
  }
  return std::nullopt;
}

std::optional<Fault> quartz(const FieldKind& kind, std::string_view element) {
  const auto is_quartz = [](char c) { return c == '?' || c == 'L' || c == 'W' || c == '#'; };
  const auto found = std::ranges::find_if(element, is_quartz);
  if (found == element.end()) return std::nullopt;
  const bool others = std::ranges::any_of(
      element, [&](char c) { return !is_quartz(c) && !is_digit(c) && c != '-'; });
  if (others && !has_any(element, "?#")) return std::nullopt;
  if (value_of_name(kind, element)) return std::nullopt;
  std::string reason = "has " + quote(element) + ", which is Quartz; POSIX cron has no ? L W #";
  if (element == "?") reason += "; use *";
  return Fault{element, reason, element == "?" ? "*" : ""};
}

// The fault of digits and hyphens that are no number or range of the field, if they are not.
std::optional<Fault> range(const FieldKind& kind,
                           std::string_view field,
                           std::string_view element) {
  const auto ends = split_at(element, '-');
  const bool has_gap = std::ranges::any_of(ends, [](std::string_view end) { return end.empty(); });
  if (has_gap)
    return Fault{element, "has the half range " + quote(element) + "; write both ends", {}};
  if (ends.size() > 2) {
    return Fault{element, "has the range " + quote(element) + "; a range has two ends", {}};
  }

  std::vector<unsigned> values;
  for (const std::string_view end : ends) {
    unsigned value = 0;
    for (const char digit : end)
      value = std::min(value * 10 + static_cast<unsigned>(digit - '0'), 1000U);
    if (value == 7 && kind.name == weekday_field.name) {
      return nonposix(kind, field, end, "has " + std::string{end} + "; use 0 for Sunday", ": ");
    }
    if (value < kind.min || value > kind.max) {
      return Fault{end,
                   "has " + std::string{end} + ", which is out of range; it takes " +
                       std::to_string(kind.min) + " to " + std::to_string(kind.max),
                   {}};
    }
    values.push_back(value);
  }
  if (values.front() <= values.back()) return std::nullopt;
  return nonposix(
      kind, field, element, "has the range " + quote(element) + "; ranges do not wrap around");
}

std::optional<Fault> diagnose_element(const FieldKind& kind,
                                      std::string_view field,
                                      std::string_view element) {
  if (element.empty()) {
    // An empty view still points into the field; the comma beside it is what can be seen.
    const bool at_end = element.data() == field.data() + field.size();
    const std::string_view comma{element.data() - (at_end ? 1 : 0), 1};
    return Fault{comma, "has an empty list element; write a number between commas", {}};
  }
  if (auto fault = alien_character(element)) return fault;
  if (has_any(element, "/")) {
    return nonposix(
        kind, field, element, "has the step " + quote(element) + "; POSIX cron has no steps");
  }
  if (has_any(element, "*")) {
    return Fault{element,
                 "has * beside other characters; it is either * alone or a list of numbers and "
                 "ranges",
                 {}};
  }
  if (auto fault = quartz(kind, element)) return fault;
  if (auto fault = number_notation(element)) return fault;
  if (auto fault = name(kind, field, element)) return fault;
  const auto letter = std::ranges::find_if(element, is_letter);
  if (letter != element.end()) {
    return Fault{element, "has " + quote(element) + "; POSIX cron has only numbers", {}};
  }
  return range(kind, field, element);
}

Fault diagnose_count(std::string_view text, const std::vector<std::string_view>& fields) {
  if (fields.empty()) {
    return {text, "is empty; POSIX cron wants " + std::string{five_fields}, {}};
  }
  const std::string_view all{fields.front().data(),
                             static_cast<std::size_t>(fields.back().data() + fields.back().size() -
                                                      fields.front().data())};
  if (fields.front().starts_with('@')) {
    const std::string reason = "is the macro " + quote(all) + "; POSIX cron has no macros";
    const std::string equivalent{expression_of_macro(all)};
    return {all, equivalent.empty() ? reason : reason + "; use " + equivalent, equivalent};
  }
  std::string reason = "has " + std::to_string(fields.size()) +
                       (fields.size() == 1 ? " field" : " fields") + "; POSIX cron wants " +
                       std::string{five_fields};
  if (has_any(text, "\n\r\f\v")) reason += "; only spaces and tabs separate them";
  if (fields.size() < 5) return {all, reason, {}};
  if (fields.size() <= 7) reason += "; it has neither seconds nor years";
  const auto* const sixth = fields[5].data();
  return {{sixth, static_cast<std::size_t>(all.data() + all.size() - sixth)}, reason, {}};
}

}  // namespace

InvalidCronExpressionError::Details diagnose(std::string_view text) {
  const auto blame = [text](std::string_view field, std::size_t number, Fault fault) {
    return InvalidCronExpressionError::Details{
        .expression = std::string{text},
        .field = std::string{number < 5 ? field_kinds[number].name : "expression"},
        .field_value = std::string{field},
        .reason = std::move(fault.reason),
        .equivalent = std::move(fault.equivalent),
        .offset = static_cast<std::size_t>(fault.where.data() - text.data()),
        .length = fault.where.size()};
  };

  const auto fields = split_fields(text);
  constexpr std::size_t whole = 5;
  if (fields.size() != 5) return blame(text, whole, diagnose_count(text, fields));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == "*") continue;
    for (const std::string_view element : split_at(fields[i], ',')) {
      if (auto fault = diagnose_element(field_kinds[i], fields[i], element)) {
        return blame(fields[i], i, std::move(*fault));
      }
    }
  }
  return blame(text, whole, {text, "is not POSIX cron", {}});
}

}  // namespace dutiful
