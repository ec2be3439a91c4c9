#include "cron/diagnosis.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cron/nonposix.h"
#include "text/characters.h"
#include "text/quote.h"

namespace dutiful {
namespace {

constexpr std::string_view five_fields = "five fields: minute hour day month weekday";

// A part of the expression and its offset.
struct Part {
  std::size_t offset;
  std::string_view text;

  [[nodiscard]] Part from(std::size_t begin, std::size_t length = std::string_view::npos) const {
    return {offset + begin, text.substr(begin, length)};
  }
};

// The offending part, and what is wrong with it in words that follow "<field> field".
struct Fault {
  Part where;
  std::string reason;
  std::string equivalent = {};
  std::string_view lead = "; use ";  // between the two
};

bool has_any(std::string_view text, std::string_view characters) {
  return text.find_first_of(characters) != std::string_view::npos;
}

std::vector<Part> split(Part whole, char separator) {
  std::vector<Part> parts;
  std::size_t begin = 0;
  for (std::size_t at = whole.text.find(separator); at != std::string_view::npos;
       at = whole.text.find(separator, begin)) {
    parts.push_back(whole.from(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(whole.from(begin));
  return parts;
}

std::vector<Part> split_fields(std::string_view text) {
  std::vector<Part> fields;
  for (std::size_t i = 0; i < text.size();) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t", i), text.size());
    fields.push_back({i, text.substr(i, end - i)});
    i = end;
  }
  return fields;
}

// The fault of syntax that other programs accept, with the POSIX equivalent of the whole field if
// there is one.
Fault nonposix_fault(const FieldKind& kind,
                     std::string_view field,
                     Part where,
                     const std::string& reason,
                     std::string_view lead = "; use ") {
  const auto mask = read_nonposix_field(kind, field);
  if (!mask) return {where, reason};
  // A full range is restricted and a star is not (RULES C4): 0-7 is 0-6, and */1 is *.
  const bool full_range = *mask == kind.all() && !field.starts_with('*');
  const std::string equivalent = full_range
                                     ? std::to_string(kind.min) + '-' + std::to_string(kind.max)
                                     : print_field(kind, *mask);
  return {where, reason, equivalent, lead};
}

// The fault of a character that no cron accepts, if there is one.
std::optional<Fault> character_fault(Part element) {
  const auto known = [](char c) {
    return is_digit(c) || is_letter(c) || has_any({&c, 1}, "*-+./?#");
  };
  const auto alien = std::ranges::find_if_not(element.text, known);
  if (alien == element.text.end()) return std::nullopt;
  // Show all bytes of a character beyond ASCII.
  const auto end = std::find_if_not(alien + 1, element.text.end(), is_continuation);
  const Part where = element.from(static_cast<std::size_t>(alien - element.text.begin()),
                                  static_cast<std::size_t>(end - alien));
  return Fault{
      where,
      "has the character " + quote(where.text) +
          (has_any(where.text, "\n\r\f\v") ? "; only spaces and tabs separate fields"
                                           : "; only digits, commas, hyphens and * are allowed")};
}

// The fault of a number that is not written in plain decimal digits, if it is one.
std::optional<Fault> notation_fault(Part element) {
  const std::string shown = quote(element.text);
  if (has_any(element.text, "+") || element.text.find("--") != std::string_view::npos ||
      (element.text.starts_with('-') && element.text.size() > 1)) {
    return Fault{element, "has a sign in " + shown + "; numbers have no sign"};
  }
  if (has_any(element.text, ".")) {
    return Fault{element, "has a decimal point in " + shown + "; numbers are whole"};
  }
  for (const Part& term : split(element, '-')) {
    const std::string_view text = term.text;
    if (text.empty() || !is_digit(text.front())) continue;
    const bool prefix = text.size() > 1 && text[0] == '0' && has_any(text.substr(1, 1), "xXbBoO");
    if (prefix || has_any(text.substr(text.size() - 1), "hH")) {
      return Fault{term, "has " + quote(text) + "; numbers are decimal"};
    }
    const auto letter = std::ranges::find_if_not(text, is_digit);
    if (letter != text.end() && to_lower(*letter) == 'e') {
      return Fault{term, "has an exponent in " + shown + "; numbers are plain digits"};
    }
  }
  return std::nullopt;
}

// The fault of a word where a number should be, if there is one.
std::optional<Fault> name_fault(const FieldKind& kind, std::string_view field, Part element) {
  for (const Part& term : split(element, '-')) {
    if (term.text.empty() || !std::ranges::all_of(term.text, is_letter)) continue;
    const bool known = value_of_name(kind, term.text).has_value();
    const std::string reason = (known ? "has the name " : "has the word ") + quote(term.text) +
                               "; POSIX cron has only numbers";
    return nonposix_fault(kind, field, term, reason);
  }
  return std::nullopt;
}

// The fault of a token of Quartz, if there is one. L and W may also be part of names.
std::optional<Fault> quartz_fault(const FieldKind& kind, std::string_view field, Part element) {
  const auto is_token = [](char c) { return c == '?' || c == 'L' || c == 'W' || c == '#'; };
  const auto fits = [&](char c) { return is_token(c) || is_digit(c) || c == '-'; };
  if (std::ranges::none_of(element.text, is_token)) return std::nullopt;
  if (!has_any(element.text, "?#") && !std::ranges::all_of(element.text, fits)) {
    return std::nullopt;
  }
  if (value_of_name(kind, element.text)) return std::nullopt;
  const std::string reason =
      "has " + quote(element.text) + ", which is Quartz syntax; POSIX cron has no ? L W #";
  if (field == "?") return Fault{element, reason, "*"};
  return Fault{element, reason};
}

// The fault of digits and hyphens that are not a number or a range of the field, if there is one.
std::optional<Fault> range_fault(const FieldKind& kind, std::string_view field, Part element) {
  const auto ends = split(element, '-');
  if (std::ranges::any_of(ends, [](const Part& end) { return end.text.empty(); })) {
    return Fault{element, "has the incomplete range " + quote(element.text) + "; write both ends"};
  }
  if (ends.size() > 2) {
    return Fault{element, "has the range " + quote(element.text) + "; a range has two ends"};
  }

  std::vector<unsigned> values;
  for (const Part& end : ends) {
    unsigned value = 0;
    for (const char digit : end.text) {
      value = std::min(value * 10 + static_cast<unsigned>(digit - '0'), 1000U);
    }
    if (value == 7 && kind.field == Field::weekday) {
      return nonposix_fault(kind, field, end, "has " + show(end.text) + "; use 0 for Sunday", ": ");
    }
    if (value < kind.min || value > kind.max) {
      return Fault{end,
                   "has " + show(end.text) + ", which is out of range; use " +
                       std::to_string(kind.min) + " to " + std::to_string(kind.max)};
    }
    values.push_back(value);
  }
  if (values.front() <= values.back()) return std::nullopt;
  return nonposix_fault(
      kind, field, element, "has the range " + quote(element.text) + "; ranges do not wrap around");
}

std::optional<Fault> element_fault(const FieldKind& kind, Part field, Part element) {
  if (element.text.empty()) {
    // Point at the comma next to it, because an empty element has no characters.
    const std::size_t position = element.offset - field.offset;
    return Fault{field.from(position == field.text.size() ? position - 1 : position, 1),
                 "has an empty list element; write a number between the commas"};
  }
  if (auto fault = character_fault(element)) return fault;
  if (has_any(element.text, "/")) {
    return nonposix_fault(kind,
                          field.text,
                          element,
                          "has the step " + quote(element.text) + "; POSIX cron has no steps");
  }
  if (has_any(element.text, "*")) {
    return Fault{element,
                 "has * next to other characters; write * alone or a list of numbers and ranges"};
  }
  if (auto fault = quartz_fault(kind, field.text, element)) return fault;
  if (auto fault = notation_fault(element)) return fault;
  if (auto fault = name_fault(kind, field.text, element)) return fault;
  if (std::ranges::any_of(element.text, is_letter)) {
    return Fault{element, "has " + quote(element.text) + "; POSIX cron has only numbers"};
  }
  return range_fault(kind, field.text, element);
}

std::optional<Fault> field_fault(const FieldKind& kind, Part field) {
  if (field.text == "*") return std::nullopt;
  for (const Part& element : split(field, ',')) {
    if (auto fault = element_fault(kind, field, element)) return fault;
  }
  return std::nullopt;
}

// The fault of an expression that does not have five fields.
Fault count_fault(std::string_view text, const std::vector<Part>& fields) {
  const Part whole{0, text};
  if (fields.empty()) return {whole, "is empty; POSIX cron requires " + std::string{five_fields}};

  const std::size_t end = fields.back().offset + fields.back().text.size();
  const Part all = whole.from(fields.front().offset, end - fields.front().offset);
  if (all.text.starts_with('@')) {
    const std::string reason =
        "has the macro " + quote(fields.front().text) + "; POSIX cron has no macros";
    return {all, reason, std::string{expression_of_macro(all.text)}};
  }
  std::string reason = "has " + std::to_string(fields.size()) +
                       (fields.size() == 1 ? " field" : " fields") + "; POSIX cron requires " +
                       std::string{five_fields};
  if (has_any(text, "\n\r\f\v")) reason += "; only spaces and tabs separate them";
  if (fields.size() < 5) return {all, reason};
  if (fields.size() <= 7) reason += "; there are no seconds or years";
  return {whole.from(fields[5].offset, end - fields[5].offset), reason};
}

// Vixie cron treats a field that begins with a star as a star, even with a step, and then requires
// both day and weekday to match: 0 0 */2 * 1. No list is equivalent.
bool joins_by_and_elsewhere(const std::vector<Part>& fields, std::size_t faulty) {
  constexpr std::size_t day = 2;
  constexpr std::size_t weekday = 4;
  if (faulty != day && faulty != weekday) return false;
  const std::string_view other = fields[faulty == day ? weekday : day].text;
  return fields[faulty].text.starts_with("*/") && !fields[faulty].text.ends_with("/1") &&
         !other.starts_with('*');
}

InvalidCronExpressionError::Details details_of(std::string_view text,
                                               std::string_view field_name,
                                               Part field,
                                               Fault fault) {
  return {.expression = std::string{text},
          .field = std::string{field_name},
          .field_value = std::string{field.text},
          .field_offset = field.offset,
          .reason = fault.equivalent.empty()
                        ? fault.reason
                        : fault.reason + std::string{fault.lead} + fault.equivalent,
          .equivalent = std::move(fault.equivalent),
          .offset = fault.where.offset,
          .length = fault.where.text.size()};
}

}  // namespace

InvalidCronExpressionError::Details diagnose(std::string_view text) {
  const auto fields = split_fields(text);
  const Part whole{0, text};
  if (fields.size() != 5) return details_of(text, "expression", whole, count_fault(text, fields));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (auto fault = field_fault(field_kinds[i], fields[i])) {
      if (joins_by_and_elsewhere(fields, i)) {
        fault->reason += ", and a day needs to match only one of day and weekday";
      }
      return details_of(text, field_kinds[i].name, fields[i], std::move(*fault));
    }
  }
  return details_of(text, "expression", whole, {whole, "is not POSIX cron"});
}

}  // namespace dutiful
