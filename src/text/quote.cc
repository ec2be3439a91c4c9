#include "text/quote.h"

#include "text/utf8.h"

namespace dutiful {
namespace {

// Characters that a terminal or a log reader might take for a command or the end of a line.
bool is_control(std::string_view character) {
  if (character.size() == 1) return character[0] < ' ' || character[0] == '\x7f';
  if (character.size() == 2) return character[0] == '\xc2' && character[1] < '\xa0';  // C1
  if (character.size() != 3 || character[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(character[2]);
  // U+2028 to U+202E end lines or turn the direction of writing around, U+2066 to U+2069 do the
  // latter.
  return (character[1] == '\x80' && 0xa8 <= last && last <= 0xae) ||
         (character[1] == '\x81' && 0xa6 <= last && last <= 0xa9);
}

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
  }
}

// What is escaped beside the characters that must not come through; as a rule backslashes, so that
// the text can be told from its escapes.
std::string escape(std::string_view text, std::string_view also) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    if (also.find(character) != std::string_view::npos) {
      out.append("\\").append(character);
    } else if (character == "\n") {
      out.append("\\n");
    } else if (character == "\t") {
      out.append("\\t");
    } else if (character == "\r") {
      out.append("\\r");
    } else if (length == 0 || is_control(character)) {
      append_hex(out, character);
    } else {
      out.append(character);
    }
  }
  return out;
}

}  // namespace

std::string escape(std::string_view text) {
  return escape(text, "\\");
}

std::string quote(std::string_view text) {
  return '"' + escape(text, "\\\"") + '"';
}

std::string on_one_line(std::string_view message) {
  return escape(message, "");
}

std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    const auto byte = static_cast<unsigned char>(character[0]);
    if (length == 0) {
      out.append("\\\\x").append({digits[byte >> 4], digits[byte & 15]});
    } else if (character == "\"" || character == "\\") {
      out.append("\\").append(character);
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\u00").append({digits[byte >> 4], digits[byte & 15]});
    } else {
      out.append(character);
    }
  }
  return out + '"';
}

}  // namespace dutiful
