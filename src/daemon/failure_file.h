// The file of the failures in a row, beside the state.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "daemon/failure_streak.h"
#include "posix/file_identity.h"
#include "store/sqlite/database.h"

namespace dutiful {

// <state>-failures
[[nodiscard]] std::string failures_of(const std::string& state);

using FailureStreaks = std::map<std::string, FailureStreak, std::less<>>;

// The file, open; it is created if it does not exist. Throws DatabaseError, and FileError if the
// file is a link or belongs to another user.
class FailureFile {
 public:
  explicit FailureFile(const std::string& path);

  // Whether the path still leads to this file.
  [[nodiscard]] bool is_there() const;

  [[nodiscard]] FailureStreaks read() const;
  // All in one transaction. A task without failures is removed.
  void write(const FailureStreaks& streaks);

 private:
  std::optional<FileIdentity> identity_;  // determined before the file is opened
  Database database_;
};

}  // namespace dutiful
