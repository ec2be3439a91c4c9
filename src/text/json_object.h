// Writes a JSON object as text.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/quote.h"

namespace dutiful {

// Appends members to a text, and the closing brace when it is destroyed. For answers with thousands
// of objects, which a document in memory would make slow.
//
//   JsonObject object{text};
//   object.add("name", "backup");  // {"name":"backup"}
class JsonObject {
 public:
  explicit JsonObject(std::string& text) : text_(text) { text_ += '{'; }
  ~JsonObject() { text_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void add(std::string_view name, std::string_view value) {
    append_json_string(begin(name), value);
  }
  void add(std::string_view name, const char* value) { add(name, std::string_view{value}); }
  void add(std::string_view name, std::nullptr_t /*none*/) { add_json(name, "null"); }
  void add(std::string_view name, std::same_as<bool> auto value) {
    add_json(name, value ? "true" : "false");
  }
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) void add(std::string_view name, Number value) {
    add_json(name, std::to_string(value));
  }
  template <typename T>
  void add(std::string_view name, const std::optional<T>& value) {
    if (value) {
      add(name, *value);
    } else {
      add(name, nullptr);
    }
  }
  // A value that is JSON already.
  void add_json(std::string_view name, std::string_view json) {
    begin(name);
    text_ += json;
  }
  // The name alone; the caller appends the value to the text, which is returned.
  std::string& begin(std::string_view name) {
    if (!is_first_) text_ += ',';
    is_first_ = false;
    text_ += '"';
    text_ += name;  // names are ours and need no escapes
    text_ += "\":";
    return text_;
  }

 private:
  std::string& text_;
  bool is_first_ = true;
};

}  // namespace dutiful
