#include "commands/leftovers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include "commands/descriptor.h"
#include "commands/environment.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

struct Contents {
  std::string text{};
  int error = 0;  // why there is no more of it
};

Contents read_whole(const std::string& path) {
  Contents contents;
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::array<char, 4096> chunk{};
  ssize_t size = -1;
  while (file.is_open() && (size = read(file.get(), chunk.data(), chunk.size())) > 0) {
    contents.text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  if (size < 0) contents.error = errno;
  return contents;
}

// Replaces the file as a whole.
void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  const std::string next = path + "-next";
  std::ofstream file{next, std::ios::trunc};
  for (const std::string& line : lines) file << line << '\n';
  file.close();
  if (!file || std::rename(next.c_str(), path.c_str()) != 0) {
    throw std::system_error(errno, std::generic_category(), path + " cannot be written");
  }
}

bool has_marker(const std::string& environment, const std::set<std::string>& markers) {
  for (std::size_t begin = 0; begin < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', begin), environment.size());
    if (markers.contains(environment.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

struct Marked {
  int process;
  Descriptor handle;
};

std::vector<Marked> find_marked(const std::set<std::string>& markers) {
  std::vector<Marked> found;
  bool shows_us = false;
  std::error_code error;
  std::filesystem::directory_iterator entry{"/proc", error};
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int process = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (bad != std::errc{} || end != name.data() + name.size()) continue;
    if (process == getpid()) {
      shows_us = true;
      continue;
    }
    // The handle comes first: should the number be another's by then, so is the environment.
    Descriptor handle{static_cast<int>(syscall(SYS_pidfd_open, process, 0))};
    if (!handle.is_open()) {
      if (errno == ESRCH || errno == EINVAL || errno == ENOENT) continue;  // it is gone
      throw std::system_error(
          errno,
          std::generic_category(),
          "no hold on process " + name + ", which a daemon before may have left (pidfd_open)");
    }
    if (has_marker(read_whole(entry->path() / "environ").text, markers)) {
      found.push_back({process, std::move(handle)});
    }
  }
  if (error || !shows_us) {
    throw std::runtime_error(
        "/proc shows no processes" + (error ? " (" + error.message() + ')' : std::string{}) +
        ", so what a daemon before may have left cannot be found; mount proc there");
  }
  return found;
}

// Whether it is gone by then.
bool wait_for(const Marked& marked, Steady::time_point until) {
  const auto left = std::chrono::ceil<Duration>(until - Steady::now());
  pollfd waiting{.fd = marked.handle.get(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, static_cast<int>(std::max(left, Duration::zero()).count())) > 0;
}

}  // namespace

std::vector<std::string> Instances::enter(const std::string& instance) {
  const Contents contents = read_whole(path_);
  if (contents.error != 0 && contents.error != ENOENT) {
    throw std::runtime_error(
        path_ + " cannot be read: " + std::generic_category().message(contents.error) +
        "; it names daemons whose commands may still run: make it readable, or end those commands "
        "and remove it");
  }
  std::istringstream lines{contents.text};
  std::vector<std::string> before;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) before.push_back(line);
  }
  std::vector<std::string> all = before;
  all.push_back(instance);
  write_lines(path_, all);
  return before;
}

void Instances::keep_only(const std::string& instance) {
  write_lines(path_, {instance});
}

void Instances::clear() {
  std::remove(path_.c_str());
}

std::string new_instance() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) {
    std::ostringstream part;
    part << std::hex << random();
    name += part.str();
  }
  return name;
}

Sweep end_leftovers(const std::vector<std::string>& instances, Duration wait_max) {
  Sweep sweep;
  if (instances.empty()) return sweep;
  std::set<std::string> markers;
  for (const std::string& instance : instances) {
    markers.insert(std::string{instance_variable} + '=' + instance);
  }

  // Until two looks in a row find nothing: one may have forked while it was being looked for.
  const auto until = Steady::now() + wait_max;
  for (int clean = 0; clean < 2;) {
    const std::vector<Marked> found = find_marked(markers);
    clean = found.empty() ? clean + 1 : 0;
    for (const Marked& marked : found) {
      syscall(SYS_pidfd_send_signal, marked.handle.get(), SIGKILL, nullptr, 0);
    }
    for (const Marked& marked : found) {
      if (wait_for(marked, until)) {
        ++sweep.ended;
      } else {
        sweep.remaining.push_back(marked.process);
      }
    }
    if (!sweep.remaining.empty()) break;
  }
  return sweep;
}

}  // namespace dutiful
