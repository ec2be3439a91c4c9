// The history as a file: its table, and how runs are written to it and read.
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

// Open to write; made where there is none. Everything here throws DatabaseError.
class HistoryFile {
 public:
  // Throws FileError for a link, and for a file of another user.
  explicit HistoryFile(const std::string& path);

  // Whether the path still leads to it. Where somebody has removed or replaced it, nobody would
  // find what is written.
  [[nodiscard]] bool is_there() const;
  // Lets go of a log that a file which is put in its place could be taken to have.
  void abandon() noexcept;

  [[nodiscard]] bool has(const HistoryEntry& entry) const;
  // Adds them, and keeps so many of each task. An interrupted run that is there already stays as it
  // is.
  void write(const std::list<HistoryEntry>& entries, std::size_t runs_max);

  // Forgets what other tasks did before that instant.
  void forget_others(const std::set<std::string, std::less<>>& tasks, Instant before);

 private:
  void insert(const HistoryEntry& entry);

  std::optional<FileIdentity> identity_;  // from before it is opened
  Database database_;
  std::optional<Statement> insert_;
  std::optional<Statement> trim_;
};

// The newest runs in a file that is there, newest first: of one task or of all. Throws HistoryError
// where a run is none that dutiful wrote, and DatabaseError.
[[nodiscard]] std::vector<HistoryEntry> read_history_file(const std::string& path,
                                                          const std::optional<std::string>& task,
                                                          std::size_t count);

}  // namespace dutiful
