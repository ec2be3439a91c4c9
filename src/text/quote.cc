#include "text/quote.h"

#include <algorithm>

#include "text/utf8.h"

namespace dutiful {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

// Characters that a terminal or a log reader might interpret as a command, the end of a line or a
// change of the writing direction (RULES V).
bool is_control(char32_t code) {
  const auto between = [code](char32_t low, char32_t high) { return low <= code && code <= high; };
  return code < 0x20 || between(0x7f, 0x9f) ||                // C0, DEL, C1
         code == 0x61c || between(0x200e, 0x200f) ||          // marks of direction
         between(0x2028, 0x202e) || between(0x2066, 0x2069);  // separators; embeddings, isolates
}

// Requires a UTF-8 character.
bool is_control(std::string_view character) {
  return is_control(utf8_code(character));
}

void append_hex(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
  }
}

// As \uNNNN, which is large enough for every control character.
void append_json_escape(std::string& out, std::string_view control) {
  const char32_t code = utf8_code(control);
  out.append("\\u");
  for (const int shift : {12, 8, 4, 0}) out.push_back(digits[code >> shift & 15]);
}

// How many characters at the beginning are the same in JSON and need no closer look.
std::size_t plain_length(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

// Escapes control characters, invalid bytes and the characters in `also`: usually backslashes, so
// that the text can be distinguished from its escapes.
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

// How many bytes of a value a message shows: at most 200, and no part of a character.
std::size_t shown_size(std::string_view value) {
  constexpr std::size_t shown_max = 200;
  if (value.size() <= shown_max) return value.size();
  for (std::size_t back = 1; back < 4; ++back) {
    if (utf8_length(value.substr(shown_max - back)) > back) return shown_max - back;
  }
  return shown_max;
}

// A value between marks, escaped, and cut if it is long.
std::string show(std::string_view value, std::string_view also, std::string_view mark) {
  const std::size_t size = shown_size(value);
  std::string out{mark};
  out.append(escape(value.substr(0, size), also));
  if (size == value.size()) return out.append(mark);
  return out.append("…").append(mark).append(" (") + std::to_string(value.size()) + " bytes)";
}

}  // namespace

std::string escape(std::string_view text) {
  return escape(text, "\\");
}

std::string show(std::string_view value) {
  return show(value, "\\", "");
}

std::string quote(std::string_view value, char mark) {
  const std::string also{'\\', mark};
  return show(value, also, {&mark, 1});
}

std::string on_one_line(std::string_view message) {
  return escape(message, "");
}

std::string json_string(std::string_view text, InvalidBytes invalid) {
  std::string out;
  append_json_string(out, text, invalid);
  return out;
}

void append_json_string(std::string& out, std::string_view text, InvalidBytes invalid) {
  out += '"';
  while (!text.empty()) {
    const std::size_t plain = plain_length(text);
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    if (length == 0 && invalid == InvalidBytes::kept) {
      std::string hex;
      append_hex(hex, character);
      out.append("\\udc").append(hex.substr(hex.size() - 2));
    } else if (length == 0) {
      out.append("\\");
      append_hex(out, character);
    } else if (character == "\"" || character == "\\") {
      out.append("\\").append(character);
    } else if (is_control(character)) {
      append_json_escape(out, character);
    } else {
      out.append(character);
    }
  }
  out += '"';
}

std::string escape_json(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const std::string_view character = json.substr(0, std::max<std::size_t>(utf8_length(json), 1));
    json.remove_prefix(character.size());
    if (is_control(character)) {
      append_json_escape(out, character);
    } else {
      out.append(character);
    }
  }
  return out;
}

}  // namespace dutiful
