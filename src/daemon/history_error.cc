#include "daemon/history_error.h"

#include <utility>

#include "text/quote.h"

namespace dutiful {

HistoryError::HistoryError(std::string file, std::string reason)
    : Error("The history " + quote(file) + ' ' + reason),
      file_(std::move(file)),
      reason_(std::move(reason)) {}

HistoryError HistoryError::damaged(std::string file, const std::string& detail) {
  return {std::move(file),
          "is damaged" + (detail.empty() ? "" : ": " + detail) +
              "; delete it or move it away, and the next run starts a new history"};
}

}  // namespace dutiful
