// What is to go wrong, and at which call.
//
//   17:kill-before   the process dies before its 17th call,
//   17:kill-within   when half the bytes of that write are in the file,
//   17:kill-after    or right after it
//   17:short         half the bytes are read or written, and the call says so
//   17:EIO           the call fails, once
//   17+:EIO          so does every later call of its kind on its file
//   17*:EIO          the disk is dead: so does every later call that has to reach it
//   17*:ENOSPC       the disk is full: half of that write fits, and no later one does
//
// Calls are counted from 1, those on the files of the state alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "faults/call.h"

namespace dutiful::faults {

struct Fault {
  enum class Deed : std::uint8_t { kill_before, kill_within, kill_after, shorten, fail };
  enum class Scope : std::uint8_t { once, file, disk };

  std::uint64_t at = 0;
  Deed deed = Deed::fail;
  Scope scope = Scope::once;
  int error = 0;  // errno, of `fail`

  [[nodiscard]] bool kills() const {
    return deed == Deed::kill_before || deed == Deed::kill_within || deed == Deed::kill_after;
  }
  friend bool operator==(const Fault&, const Fault&) = default;
};

[[nodiscard]] std::string to_text(const Fault& fault);
[[nodiscard]] std::optional<Fault> parse_fault(const std::string& text);

// Whether a disk that fails with that error fails such a call. One that is full only takes no more;
// locks are the kernel's, and a close needs no disk.
[[nodiscard]] bool reaches_disk(Kind kind, int error);

// Who has the shim in it reads these variables:
inline constexpr const char* variable_directory = "DUTIFUL_FAULTS_IN";  // absolute, no link in it
inline constexpr const char* variable_fault = "DUTIFUL_FAULTS";         // none: nothing goes wrong
inline constexpr const char* variable_log = "DUTIFUL_FAULTS_LOG";  // a file outside; none: none

// When a fault strikes first, the shim says so on standard output: "fault 17 write state.db-wal".
inline constexpr const char* struck = "fault";

}  // namespace dutiful::faults
