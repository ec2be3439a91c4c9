// The limits: the same rows through SQLite's own interface, with nothing around it.
#pragma once

#include <string>
#include <vector>

#include "core/task.h"

namespace dutiful::bench {

// Makes a state and writes the rows of the list to it, in one transaction; returns the seconds. The
// list is sorted by name, as SQLite likes it best.
[[nodiscard]] double bare_insert(const std::string& path, const std::vector<TaskConfig>& sorted);

// Opens a state and reads every column of every row.
[[nodiscard]] double bare_scan(const std::string& path);

// Updates so many rows of a state twice, as a start and an end do, so many to a transaction.
[[nodiscard]] double bare_updates(const std::string& path, std::size_t rows, std::size_t together);

// A file that 4 KiB are added to, and fdatasync() called: the least that makes anything durable.
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

// The mean of such a write.
[[nodiscard]] double bare_fdatasync(const std::string& path);

}  // namespace dutiful::bench
