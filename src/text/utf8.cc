#include "text/utf8.h"

namespace dutiful {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto between = [](unsigned value, unsigned low, unsigned high) {
    return low <= value && value <= high;
  };
  const auto follows = [&](std::size_t i) { return between(byte(i), 0x80, 0xbf); };

  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (between(lead, 0xc2, 0xdf)) return follows(1) ? 2 : 0;
  if (between(lead, 0xe0, 0xef)) {
    const bool second = between(byte(1), lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (between(lead, 0xf0, 0xf4)) {
    const bool second = between(byte(1), lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

char32_t utf8_code(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  char32_t code = lead & (0x7fU >> character.size());
  for (const char c : character.substr(1))
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

std::size_t find_not_utf8(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t length = utf8_length(text.substr(offset));
    if (length == 0) return offset;
    offset += length;
  }
  return std::string_view::npos;
}

}  // namespace dutiful
