// Kinds of characters, whatever the locale says.
#pragma once

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

// A byte that goes on with a character of UTF-8 that began before it.
[[nodiscard]] constexpr bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

}  // namespace dutiful
