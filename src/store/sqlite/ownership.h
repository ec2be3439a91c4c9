// One live scheduler per state, among all processes of a host (RULES P6).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "posix/descriptor.h"
#include "posix/file_identity.h"

namespace dutiful {

class FileError;
enum class Demand;

// Holds two locks of the operating system, which die with the process however it ends. One is on a
// file beside the state, which names the holder. The other is on the state itself: it is the same
// lock under every name of the file, and it remains if the first file is removed. The locks belong
// to the descriptors, so a forked child shares them until it executes another program or ends.
//
// Closing any descriptor of the state releases the locks that SQLite holds in this process. So this
// object must outlive every connection of its holder, and it does not even open a state that this
// process already holds.
class Ownership {
 public:
  // Throws StateHeldError, which names the holder. Throws StoreError if the state cannot be locked,
  // or if one of its files belongs to another user or is a link. Only the path of the state itself
  // may contain links.
  explicit Ownership(const std::string& state);
  ~Ownership();
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;

  // Throws StoreError if a file of the state was replaced or removed while in use: what is recorded
  // in the old file could not be found again.
  void check();

  // Call when the state is known to be one of dutiful. From then on only the owner may open its
  // files, including those that SQLite creates with the mode of the state: a user who can open a
  // file can lock it, and so block the writer. Throws StoreError.
  void make_private();

  // Call before the connection is closed: the last connection to close removes the log, so the next
  // log is another file.
  void forget_log() noexcept;

  // Call when a list was written to the state. Without it, the destructor restores the name of a
  // previous holder that was killed, and removes the files that this object created, except a state
  // that SQLite has already made a database.
  void confirm() noexcept;

 private:
  struct Watched {
    std::string path;
    bool is_log = false;                     // created and removed with the connections
    std::optional<FileIdentity> identity{};  // once the file exists
  };
  class HeldHere;

  void refuse_others() const;
  [[noreturn]] void refuse(const FileError& error) const;
  void check_files(Demand demand) const;
  void require_ours(const std::string& path) const;
  [[nodiscard]] bool lock_soon(int descriptor, off_t start, off_t length) const;
  void lock_name();
  void lock_state();
  void put_back() noexcept;
  [[nodiscard]] bool is_unused() const noexcept;
  void release() noexcept;

  std::string state_;  // the path with its links resolved
  std::string name_;   // the path of the file that names the holder
  std::string log_;    // SQLite's write-ahead log
  Descriptor name_descriptor_;
  Descriptor state_descriptor_;
  std::optional<FileIdentity> held_;  // the state in HeldHere
  std::string predecessor_;           // the previous holder if it was killed; cleared by confirm()
  bool name_made_ = false;            // created by us, and not confirmed yet
  bool state_made_ = false;
  std::vector<Watched> watched_;
};

}  // namespace dutiful
