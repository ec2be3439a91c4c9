// The history file: its table, and how runs are written and read.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <dutiful/time.h>

#include "daemon/history_entry.h"
#include "posix/file_identity.h"
#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

namespace dutiful {

// The file, open for writing; it is created if it does not exist. Throws DatabaseError.
class HistoryFile {
 public:
  // Also throws FileError if the file is a link or belongs to another user.
  explicit HistoryFile(const std::string& path);

  // Whether the path still leads to this file. If the file was removed or replaced, no reader would
  // find the runs that are written to it.
  [[nodiscard]] bool is_there() const;
  // Truncates the log (WAL), because SQLite would take it for the log of a file that replaced this
  // one.
  void abandon() noexcept;

  [[nodiscard]] bool has(const HistoryEntry& entry) const;
  // Adds the runs, and keeps the newest `runs_max` of each task. An interrupted run that the file
  // already has is left as it is.
  void write(const std::list<HistoryEntry>& entries, std::size_t runs_max);

  // Deletes the runs that started before that instant, except those of these tasks.
  void prune_removed(const std::set<std::string, std::less<>>& tasks, Instant before);

 private:
  void insert(const HistoryEntry& entry);

  std::optional<FileIdentity> identity_;  // determined before the file is opened
  Database database_;
  std::optional<Statement> insert_;
  std::optional<Statement> trim_;
};

// The newest runs of one task or of all in an existing file, newest first. Throws HistoryError if a
// row cannot be one that dutiful wrote, and DatabaseError.
[[nodiscard]] std::vector<HistoryEntry> read_history_file(const std::string& path,
                                                          const std::optional<std::string>& task,
                                                          std::size_t count);

}  // namespace dutiful
