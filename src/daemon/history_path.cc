#include "daemon/history_path.h"

#include <filesystem>

#include "store/sqlite/state_file.h"

namespace dutiful {

std::string history_of(const std::string& state) {
  return file_beside(state, "-history");
}

HistoryError history_error_of(const std::string& path, const DatabaseError& error) {
  // A DatabaseError is worded for a state and suggests another file. A history has only this one.
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return {path,
            std::string{std::filesystem::is_directory(status) ? "is a directory"
                                                              : "is not a regular file"} +
                "; move it away, and the next run starts a new history"};
  }
  switch (error.kind()) {
    case DatabaseError::Kind::damaged:
      return HistoryError::damaged(path);
    case DatabaseError::Kind::too_long:
      return HistoryError::damaged(path, "a value in it is too long");
    default:
      return {path, error.reason()};
  }
}

}  // namespace dutiful
