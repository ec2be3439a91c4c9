#include "commands/processes.h"

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

// PF_EXITING of the kernel, among the flags that proc(5) tells.
constexpr unsigned exiting = 4;

// A file of /proc; empty where it is gone or not for us. Throws where it cannot be told, as without
// a descriptor: what cannot be seen just now must not be taken for gone.
std::string read_shown(const std::string& path) {
  Contents contents = read_whole(path);
  for (const int none : {0, ENOENT, ESRCH, EACCES, EPERM}) {
    if (contents.error == none) return std::move(contents.text);
  }
  throw std::system_error(contents.error, std::generic_category(), path + " cannot be read");
}

}  // namespace

std::int64_t tick_length() {
  return 1'000'000'000 / sysconf(_SC_CLK_TCK);
}

Ticks ticks_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec) / tick_length();
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
  // The name of the program stands in brackets, and may hold anything, also brackets.
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
        ", so what a daemon before may have left cannot be found; mount proc there");
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
