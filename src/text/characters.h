// Classes of characters, independent of the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace dutiful {

[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

[[nodiscard]] constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

[[nodiscard]] constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Whether the text contains the part; ASCII letters are equal in both cases.
[[nodiscard]] constexpr bool contains_in_any_case(std::string_view text, std::string_view part) {
  const auto are_equal = [](char a, char b) { return to_lower(a) == to_lower(b); };
  return part.empty() ||
         std::search(text.begin(), text.end(), part.begin(), part.end(), are_equal) != text.end();
}

// Whether the byte is inside a UTF-8 character, not its first byte.
[[nodiscard]] constexpr bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

}  // namespace dutiful
