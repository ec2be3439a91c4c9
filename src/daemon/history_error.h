// The error of a history that cannot be read or written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dutiful/error.h>

namespace dutiful {

// It concerns the history only. The state is another file and may be intact.
class HistoryError : public Error {
 public:
  HistoryError(std::string file, std::string reason);
  // The contents of the file are invalid; `detail` says which part, if that is known.
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
