// The calls that a process makes on the files of its state, as the shim sees them and the driver
// reads of them.
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
  create,  // an open that makes the file
  read,
  write,
  truncate,
  sync,  // fsync and fdatasync; of the directory, too
  lock,
  unlock,
  unlink,
  rename,
  close,
  said,  // a line on standard output: not a call on a file, and not counted
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

// The directory itself, where a file's name is expected.
inline constexpr std::string_view the_directory = ".";

struct Call {
  Kind kind{};
  std::string file{};       // its name in the directory, or `the_directory`
  std::int64_t offset = 0;  // of a write; of a truncation, the new size
  std::uint64_t size = 0;   // how many bytes are to be read or written
  std::string data{};       // the bytes of a write, what was said, or a file's new name
};

// A call that was made.
struct LoggedCall {
  std::uint64_t number = 0;  // from 1; of what was said, 0
  bool succeeded = true;
  Call call{};
};

// The log is text, one line a call, which its data follow:
//
//   17 write state.db-wal 32 24 ok 24
//   <24 bytes>
//
// number, kind, file, offset, size, "ok" or "failed", and the length of the data.
[[nodiscard]] std::string to_text(const LoggedCall& logged);
// Throws std::runtime_error for what is no such log.
[[nodiscard]] std::vector<LoggedCall> parse_log(const std::string& text);

}  // namespace dutiful::faults
