// What is thrown where the history cannot be read or written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dutiful/error.h>

namespace dutiful {

// The state is another file, and may be well.
class HistoryError : public Error {
 public:
  HistoryError(std::string file, std::string reason);
  // What the file holds is at fault; `detail` says which part of it, if that is known.
  [[nodiscard]] static HistoryError damaged(std::string file, const std::string& detail = "");
  [[nodiscard]] std::string_view name() const noexcept override { return "HistoryError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override {
    return {{"file", file_}, {"reason", reason_}};
  }

 private:
  std::string file_;
  std::string reason_;
};

}  // namespace dutiful
