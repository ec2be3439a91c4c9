// An environment variable for a test.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace dutiful {

// Sets or removes a variable during its life.
class WithVariable {
 public:
  WithVariable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~WithVariable() { set(old_); }
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      setenv(name_, value->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace dutiful
