// Every character of Unicode, for exhaustive tests.
#pragma once

#include <string>

namespace dutiful {

// UTF-8.
inline std::string utf8(char32_t code) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  const auto follow = [&](char32_t value) { return byte(0x80 | (value & 0x3f)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), follow(code)};
  if (code < 0x10000) return {byte(0xe0 | code >> 12), follow(code >> 6), follow(code)};
  return {byte(0xf0 | code >> 18), follow(code >> 12), follow(code >> 6), follow(code)};
}

// Calls `visit` with every code point except the surrogates, which are not characters.
template <typename Visit>
void for_every_character(Visit visit) {
  for (char32_t code = 0; code < 0xd800; ++code) visit(code);
  for (char32_t code = 0xe000; code <= 0x10ffff; ++code) visit(code);
}

}  // namespace dutiful
