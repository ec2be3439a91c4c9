// The calls of a process on the files of its state, as the shim logs them and the driver reads
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dutiful::faults {

enum class Kind : std::uint8_t {
  open,
  create,  // an open that creates the file
  read,
  write,
  truncate,
  sync,  // fsync and fdatasync, also of the directory
  lock,
  unlock,
  unlink,
  rename,
  close,
  said,  // a line on standard output; not a call on a file, and not counted
};

inline constexpr std::array<std::string_view, 12> kind_names{"open",
                                                             "create",
                                                             "read",
                                                             "write",
                                                             "truncate",
                                                             "sync",
                                                             "lock",
                                                             "unlock",
                                                             "unlink",
                                                             "rename",
                                                             "close",
                                                             "said"};
[[nodiscard]] constexpr std::string_view name_of(Kind kind) {
  return kind_names.at(static_cast<std::size_t>(kind));
}

// The directory itself, in place of a file's name.
inline constexpr std::string_view the_directory = ".";

struct Call {
  Kind kind{};
  std::string file{};       // its name in the directory, or `the_directory`
  std::int64_t offset = 0;  // of a write; the new size of a truncation
  std::uint64_t size = 0;   // the number of bytes to read or write
  std::string data{};       // the bytes of a write, the line printed, or a file's new name
};

// A call that was made.
struct LoggedCall {
  std::uint64_t number = 0;  // from 1; 0 for a printed line
  bool succeeded = true;
  Call call{};
};

// The log is text: a line for each call, followed by its data.
//
//   17 write state.db-wal 32 24 ok 24
//   <24 bytes>
//
// number, kind, file, offset, size, "ok" or "failed", and the length of the data.
[[nodiscard]] std::string to_text(const LoggedCall& logged);
// Throws std::runtime_error for a malformed log.
[[nodiscard]] std::vector<LoggedCall> parse_log(const std::string& text);

}  // namespace dutiful::faults
