// The processes of this host, as /proc shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace dutiful {

class Descriptor;

// Since the host was started, in the unit in which /proc tells when a process was.
using Ticks = std::int64_t;

[[nodiscard]] Ticks ticks_now();
// How many nanoseconds one has.
[[nodiscard]] std::int64_t tick_length();

// Number and start together are never given to another process.
struct ProcessEntry {
  pid_t process = 0;
  pid_t parent = 0;
  pid_t session = 0;
  Ticks start = 0;
  bool is_ending = false;  // or has ended, and nobody has taken notice
};

// Nothing where there is none, or where it may not be seen. This and what follows throws
// std::system_error where that cannot be told, as without a descriptor.
[[nodiscard]] std::optional<ProcessEntry> find_process(pid_t process);

// All of them. Throws where /proc does not show even this one.
[[nodiscard]] std::vector<ProcessEntry> all_processes();

// What stands in a process's environment, each variable ended by a zero; empty where that may not
// be read.
[[nodiscard]] std::string environment_of(pid_t process);

// Within what numbers of processes mean something: this start of the host, and this process
// namespace. Empty where it cannot be told.
[[nodiscard]] std::string process_space();

// A whole file, however long it says that it is.
struct Contents {
  std::string text{};
  int error = 0;  // why there is no more of it
};
[[nodiscard]] Contents read_whole(const std::string& path);
// From where it stands. One that is not open tells errno.
[[nodiscard]] Contents read_whole(const Descriptor& file);

}  // namespace dutiful
