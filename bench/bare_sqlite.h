// The limits: the same rows written through SQLite's own interface.
#pragma once

#include <string>
#include <vector>

#include "core/task.h"

namespace dutiful::bench {

// Creates a state and writes the rows of the list in one transaction; returns the seconds. The list
// is sorted by name, which is fastest for SQLite.
[[nodiscard]] double bare_insert(const std::string& path, const std::vector<TaskConfig>& sorted);

// Opens a state and reads every column of every row.
[[nodiscard]] double bare_scan(const std::string& path);

// Updates this many rows of a state twice, as a start and an end do, `together` rows to a
// transaction.
[[nodiscard]] double bare_updates(const std::string& path, std::size_t rows, std::size_t together);

// Appends 4 KiB to a file and calls fdatasync(): the least that makes anything durable.
class SyncedFile {
 public:
  explicit SyncedFile(const std::string& path);
  ~SyncedFile();
  SyncedFile(const SyncedFile&) = delete;
  SyncedFile& operator=(const SyncedFile&) = delete;
  void write() const;

 private:
  int descriptor_;
};

// The mean time of such a write.
[[nodiscard]] double bare_fdatasync(const std::string& path);

}  // namespace dutiful::bench
