// Where the history is, and what its errors are.
#pragma once

#include <string>

#include "daemon/history_error.h"
#include "store/sqlite/database_error.h"

namespace dutiful {

// <state>-history
[[nodiscard]] std::string history_of(const std::string& state);

// The error of the history that an error of its database is.
[[nodiscard]] HistoryError history_error_of(const std::string& path, const DatabaseError& error);

// Turns the errors of the database into errors of the history.
template <typename Work>
auto translate_history_errors(const std::string& path, Work work) {
  try {
    return work();
  } catch (const DatabaseError& error) {
    throw history_error_of(path, error);
  }
}

}  // namespace dutiful
