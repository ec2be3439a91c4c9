#include "trace/json_cursor.h"

#include <charconv>

#include "text/characters.h"
#include "text/quote.h"

namespace dutiful {
namespace {

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

}  // namespace

void JsonCursor::fail(const std::string& expected) const {
  const std::string there =
      at_ < text_.size() ? quote(text_.substr(at_, 1)) : std::string{"the end of the line"};
  throw JsonError("bad JSON at column " + std::to_string(column_ + at_) + ": " + expected +
                  " was expected instead of " + there);
}

void JsonCursor::skip_space() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
}

bool JsonCursor::take(char character) {
  if (peek() != character || at_ >= text_.size()) return false;
  ++at_;
  skip_space();
  return true;
}

void JsonCursor::expect(char character, const char* what) {
  if (!take(character)) fail(what);
}

void JsonCursor::end() const {
  if (at_ < text_.size()) fail("the end of the line");
}

std::string JsonCursor::read_string() {
  if (peek() != '"') fail("a string");
  ++at_;
  std::string out;
  while (true) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           !is_control(text_[at_])) {
      ++at_;
    }
    out.append(text_.substr(begin, at_ - begin));
    if (peek() == '"') break;
    if (peek() != '\\' || at_ >= text_.size()) fail("the end of the string");
    ++at_;
    append_escaped(out);
  }
  ++at_;
  skip_space();
  return out;
}

void JsonCursor::append_escaped(std::string& out) {
  const char escaped = peek();
  constexpr std::string_view plain = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  if (const auto index = plain.find(escaped); index != std::string_view::npos) {
    out.push_back(meant[index]);
    ++at_;
    return;
  }
  if (escaped != 'u') fail("an escape sequence of JSON");
  ++at_;
  unsigned code = read_hex();
  // A byte that is not UTF-8, as json_string() writes it.
  if (code >= 0xdc80 && code <= 0xdcff) {
    out.push_back(static_cast<char>(code - 0xdc00));
    return;
  }
  // A character beyond the first 65,536 is a surrogate pair. A lone half is an error.
  if (code >= 0xdc00 && code < 0xe000) fail("a pair of surrogates");
  if (code >= 0xd800 && code < 0xdc00) {
    if (text_.substr(at_, 2) != "\\u") fail("a pair of surrogates");
    at_ += 2;
    const unsigned low = read_hex();
    if (low < 0xdc00 || low >= 0xe000) fail("a pair of surrogates");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(out, code);
}

unsigned JsonCursor::read_hex() {
  unsigned code = 0;
  const std::string_view digits = text_.substr(at_, 4);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), code, 16);
  if (error != std::errc{} || end != digits.begin() + 4) fail("four hexadecimal digits");
  at_ += 4;
  return code;
}

std::int64_t JsonCursor::read_integer() {
  const std::size_t begin = at_;
  const std::string_view text = read_raw(0);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error != std::errc{} || end != text.end()) {
    at_ = begin;
    fail("a whole number of at most 19 digits");
  }
  return value;
}

std::string_view JsonCursor::read_raw(int depth) {
  if (depth > depth_max) fail("something less deeply nested");
  const std::size_t begin = at_;
  std::size_t end = 0;
  switch (peek()) {
    case '{':
      read_list('{', '}', "an object", [&] {
        if (peek() != '"') fail("a string");
        skip_string();
        skip_space();
        expect(':', "a colon");
        read_raw(depth + 1);
      });
      end = text_.find_last_not_of(" \t\r\n", at_ - 1) + 1;
      return text_.substr(begin, end - begin);
    case '[':
      read_list('[', ']', "a list", [&] { read_raw(depth + 1); });
      end = text_.find_last_not_of(" \t\r\n", at_ - 1) + 1;
      return text_.substr(begin, end - begin);
    case '"':
      skip_string();
      break;
    case 't':
      skip_word("true");
      break;
    case 'f':
      skip_word("false");
      break;
    case 'n':
      skip_word("null");
      break;
    default:
      skip_number();
  }
  end = at_;
  skip_space();
  return text_.substr(begin, end - begin);
}

void JsonCursor::skip_string() {
  std::string unwanted;
  ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && !is_control(text_[at_])) {
    if (text_[at_++] == '\\') append_escaped(unwanted);
  }
  if (at_ >= text_.size() || text_[at_] != '"') fail("the end of the string");
  ++at_;
}

void JsonCursor::skip_number() {
  const auto digits = [this] {
    if (!is_digit(peek())) fail("a value");
    while (is_digit(peek())) ++at_;
  };
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
  } else {
    digits();
  }
  if (peek() == '.') {
    ++at_;
    digits();
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    digits();
  }
}

void JsonCursor::skip_word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) fail("a value");
  at_ += word.size();
}

}  // namespace dutiful
