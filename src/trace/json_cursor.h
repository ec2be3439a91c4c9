// Reads a JSON text from left to right, value by value, without building a document.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dutiful {

class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Every read consumes one value and the white space around it, or throws JsonError.
class JsonCursor {
 public:
  // `column` is where the text begins in its line, for messages.
  explicit JsonCursor(std::string_view text, std::size_t column = 1)
      : text_(text), column_(column) {
    skip_space();
  }

  // Calls `member` with each key in turn. `member` must read the value.
  template <typename Member>
  void read_object(Member member) {
    read_list('{', '}', "an object", [&] {
      const std::string key = read_string();
      expect(':', "a colon");
      member(key);
    });
  }
  // Calls `element` for each element. `element` must read it.
  template <typename Element>
  void read_array(Element element) {
    read_list('[', ']', "a list", element);
  }

  [[nodiscard]] std::string read_string();
  [[nodiscard]] std::int64_t read_integer();

  // Consumes any value and returns its text.
  std::string_view read_raw() { return read_raw(0); }

  // Throws JsonError unless everything was read.
  void end() const;

 private:
  // Deeper than any meaningful text, and harmless to any stack.
  static constexpr int depth_max = 100;

  template <typename Item>
  void read_list(char open, char close, const char* what, Item item) {
    expect(open, what);
    if (take(close)) return;
    do {
      item();
    } while (take(','));
    expect(close,
           open == '{' ? "a comma or the end of the object" : "a comma or the end of the list");
  }

  [[noreturn]] void fail(const std::string& expected) const;
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char character);
  void expect(char character, const char* what);
  void skip_space();
  std::string_view read_raw(int depth);
  void skip_string();
  void skip_number();
  void skip_word(std::string_view word);
  void append_escaped(std::string& out);
  unsigned read_hex();

  std::string_view text_;
  std::size_t column_;
  std::size_t at_ = 0;
};

}  // namespace dutiful
