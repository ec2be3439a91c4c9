// What goes wrong, and at which call.
//
//   17:kill-before   the process dies before its 17th call,
//   17:kill-within   when half the bytes of that write are in the file,
//   17:kill-after    or right after it
//   17:short         half the bytes are read or written, as the result says
//   17:EIO           the call fails once
//   17+:EIO          the call and every later one of its kind on its file fail
//   17*:EIO          the disk is dead: every later call that needs the disk fails too
//   17*:ENOSPC       the disk is full: half of that write fits, and no later write does
//
// Calls are counted from 1. Only calls on files of the state count.
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

// Whether a disk that fails with that error fails such a call. A full disk only refuses new data;
// locks belong to the kernel, and a close needs no disk.
[[nodiscard]] bool reaches_disk(Kind kind, int error);

// A process with the shim reads these variables:
inline constexpr const char* variable_directory = "DUTIFUL_FAULTS_IN";  // absolute, without links
inline constexpr const char* variable_fault = "DUTIFUL_FAULTS";         // unset: no fault
inline constexpr const char* variable_log = "DUTIFUL_FAULTS_LOG";       // unset: no log

// At the first strike of a fault, the shim prints "fault 17 write state.db-wal".
inline constexpr const char* struck = "fault";

}  // namespace dutiful::faults
