#include "leftovers/processes.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "posix/descriptor.h"

namespace dutiful {
namespace {

// PF_EXITING of the kernel, one of the flags in /proc/PID/stat (proc(5)).
constexpr unsigned exiting = 4;

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

timespec read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now;
}

// A file of /proc; empty if it does not exist or may not be read. Throws on any other error, such
// as having no descriptor left: a process that cannot be seen may exist all the same.
std::string read_shown(const std::string& path) {
  Contents contents = read_whole(path);
  for (const int none : {0, ENOENT, ESRCH, EACCES, EPERM}) {
    if (contents.error == none) return std::move(contents.text);
  }
  throw std::system_error(contents.error, std::generic_category(), path + " cannot be read");
}

}  // namespace

std::int64_t tick_length() {
  return nanoseconds_per_second / sysconf(_SC_CLK_TCK);
}

Ticks ticks_now() {
  const timespec now = read_clock(CLOCK_BOOTTIME);
  return (now.tv_sec * nanoseconds_per_second + now.tv_nsec) / tick_length();
}

std::time_t boot_time() {
  return read_clock(CLOCK_REALTIME).tv_sec - read_clock(CLOCK_BOOTTIME).tv_sec;
}

Contents read_whole(const std::string& path) {
  return read_whole(Descriptor{open(path.c_str(), O_RDONLY | O_CLOEXEC)});
}

Contents read_whole(const Descriptor& file) {
  Contents contents;
  std::array<char, 4096> chunk{};
  ssize_t size = -1;
  while (file.is_open() && (size = read(file.get(), chunk.data(), chunk.size())) > 0) {
    contents.text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  if (size < 0) contents.error = errno;
  return contents;
}

std::optional<ProcessEntry> find_process(pid_t process) {
  const std::string text = read_shown("/proc/" + std::to_string(process) + "/stat");
  // The program's name is in brackets, and may itself contain brackets.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields{text.substr(name_end + 1)};
  ProcessEntry entry{.process = process};
  std::string skipped;
  char state = 0;
  unsigned flags = 0;
  fields >> state >> entry.parent >> skipped >> entry.session >> skipped >> skipped >> flags;
  for (int i = 0; i < 12; ++i) fields >> skipped;
  fields >> entry.start;
  if (!fields) return std::nullopt;
  entry.is_ending = state == 'Z' || state == 'X' || (flags & exiting) != 0;
  return entry;
}

std::vector<ProcessEntry> all_processes() {
  std::vector<ProcessEntry> found;
  bool shows_us = false;
  std::error_code error;
  std::filesystem::directory_iterator entry{"/proc", error};
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t process = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (bad != std::errc{} || end != name.data() + name.size()) continue;
    if (process == getpid()) shows_us = true;
    if (const auto seen = find_process(process)) found.push_back(*seen);
  }
  if (error == std::errc::too_many_files_open ||
      error == std::errc::too_many_files_open_in_system) {
    throw std::system_error(error, "/proc cannot be read");
  }
  if (error || !shows_us) {
    throw std::runtime_error(
        "/proc shows no processes" + (error ? " (" + error.message() + ')' : std::string{}) +
        ", so leftovers of the previous daemon cannot be found; mount proc on /proc");
  }
  return found;
}

std::string environment_of(pid_t process) {
  return read_shown("/proc/" + std::to_string(process) + "/environ");
}

std::string process_space() {
  std::string boot = read_shown("/proc/sys/kernel/random/boot_id");
  while (!boot.empty() && boot.back() == '\n') boot.pop_back();
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return boot.empty() || error ? "" : boot + ',' + space.string();
}

}  // namespace dutiful
