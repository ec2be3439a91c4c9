// The processes of this host, as /proc shows them.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace dutiful {

class Descriptor;

// Time since the host booted, in the unit in which /proc gives the start of a process.
using Ticks = std::int64_t;

[[nodiscard]] Ticks ticks_now();
// The length of a tick in nanoseconds.
[[nodiscard]] std::int64_t tick_length();
// When the host booted, in seconds since 1970.
[[nodiscard]] std::time_t boot_time();

// No other process ever has the same number and start.
struct ProcessEntry {
  pid_t process = 0;
  pid_t parent = 0;
  pid_t session = 0;
  Ticks start = 0;
  bool is_ending = false;  // or has ended, and its parent has not waited for it
};

// Nothing if the process does not exist or may not be seen. This function and those below throw
// std::system_error if they cannot look, for example because no descriptor is left.
[[nodiscard]] std::optional<ProcessEntry> find_process(pid_t process);

// All of them. Throws std::runtime_error if /proc does not even show this process.
[[nodiscard]] std::vector<ProcessEntry> all_processes();

// The environment of a process, each variable ended by a zero; empty if it may not be read.
[[nodiscard]] std::string environment_of(pid_t process);

// The scope in which the numbers of processes are unique: this boot of the host, and this process
// namespace. Empty if it is unknown.
[[nodiscard]] std::string process_space();

// A whole file, whatever size it claims to have.
struct Contents {
  std::string text{};
  int error = 0;  // why the text is not complete, as errno has it
};
[[nodiscard]] Contents read_whole(const std::string& path);
// From the current position. If the descriptor is not open, the error is errno.
[[nodiscard]] Contents read_whole(const Descriptor& file);

}  // namespace dutiful
