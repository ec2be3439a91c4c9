// The history file, as its writer uses it.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <dutiful/time.h>

#include "daemon/history_entry.h"
#include "daemon/retention.h"
#include "daemon/uptime.h"
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
  // Adds the runs, and deletes what need not be kept any longer of the same tasks. An interrupted
  // run that the file already has is left as it is. Records the uptimes in the same transaction: a
  // stretch that is already there lasts longer then.
  void write(const std::list<HistoryEntry>& entries,
             std::span<const Uptime> uptimes,
             const Retention& retention);

  // Deletes the runs that started before that instant, except those of these tasks, and the newest
  // run of all: its number must not be used again.
  void prune_removed(const std::set<std::string, std::less<>>& tasks, Instant before);

 private:
  void trim(std::string_view task, Instant now, const Retention& retention);
  void record(const Uptime& uptime, const Retention& retention);

  std::optional<FileIdentity> identity_;  // determined before the file is opened
  Database database_;
  std::optional<Statement> insert_;
  std::optional<Statement> trim_;      // by number
  std::optional<Statement> trim_old_;  // by number and age
  std::optional<Statement> trim_output_;
  std::optional<Statement> extend_uptime_;
};

}  // namespace dutiful
