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

// Holds two locks of the operating system, which die with the process however that ends: one on a
// file beside the state, which names the holder, and one on the state itself, which is the same by
// whatever name the file is reached, and stays where the first file is removed. A child that was
// forked shares them until it executes another program or ends, for they belong to the descriptors.
//
// Closing any descriptor of the state takes away the locks that SQLite has in this process. So this
// must outlive every connection of its holder, and a state that this process holds already is not
// even opened.
class Ownership {
 public:
  // Throws StateHeldError, which names the holder, or StoreError where there can be no lock, or a
  // file of the state belongs to another user or is reached through a link. Only the path of the
  // state itself may lead through links.
  explicit Ownership(const std::string& state);
  ~Ownership();
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;

  // Throws StoreError where a file of the state is not the one any more that is being written: what
  // would be recorded there nobody could find again.
  void check();

  // The state is known to be one of dutiful's: from now on its files are for their owner alone,
  // also those that SQLite makes, which gives them the mode of the state. Who may open a file may
  // lock it, and so hold up whoever writes to it. Throws StoreError.
  void make_private();

  // SQLite's log may be another from now on: the connection to the state is about to be closed, and
  // whoever closes it last removes the log.
  void forget_log() noexcept;

  // The state is really ours now. Where it does not come to this, the name is left of a holder
  // before this that was killed, and no file that was not there, but for a state that SQLite has
  // already made a database.
  void confirm() noexcept;

 private:
  struct Watched {
    std::string path;
    bool is_log = false;                     // which comes and goes with the connections
    std::optional<FileIdentity> identity{};  // once it is there
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

  std::string state_;  // what its links lead to
  std::string name_;   // the path of the file that names the holder
  std::string log_;    // of SQLite
  Descriptor name_descriptor_;
  Descriptor state_descriptor_;
  std::optional<FileIdentity> held_;  // what this process holds by this
  std::string predecessor_;           // who was killed, until this is confirmed
  bool name_made_ = false;            // by us, and nobody has needed it yet
  bool state_made_ = false;
  std::vector<Watched> watched_;
};

}  // namespace dutiful
