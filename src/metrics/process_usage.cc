#include "metrics/process_usage.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "core/best_effort.h"

namespace dutiful {
namespace {

std::string contents_of(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// When the system was booted, in seconds since 1970: the line "btime 1700000000" of /proc/stat.
std::optional<std::int64_t> boot_time() {
  std::ifstream file{"/proc/stat"};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::stoll(line.substr(6));
  }
  return std::nullopt;
}

void read_stat(ProcessUsage& usage) {
  // proc(5): the second field is a name in parentheses, and may itself contain any character.
  const std::string stat = contents_of("/proc/self/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream fields{stat.substr(name_end + 1)};
  constexpr int first = 3;  // the number of the next field
  std::string skipped;
  for (int field = first; field < 20; ++field) fields >> skipped;
  std::uint64_t threads = 0;
  std::int64_t unused = 0;
  std::int64_t started = 0;  // in ticks after the boot
  std::uint64_t size = 0;
  std::uint64_t pages = 0;
  if (!(fields >> threads >> unused >> started >> size >> pages)) return;

  usage.threads = threads;
  usage.virtual_memory = size;
  usage.resident_memory = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (const auto boot = boot_time()) {
    usage.started =
        Instant{std::chrono::seconds{*boot} + Duration{started * 1000 / sysconf(_SC_CLK_TCK)}};
  }
}

std::optional<Duration> cpu_time() {
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) != 0) return std::nullopt;
  const auto time_of = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
  };
  return std::chrono::floor<Duration>(time_of(used.ru_utime) + time_of(used.ru_stime));
}

std::optional<std::uint64_t> count_descriptors() {
  const std::filesystem::directory_iterator files{"/proc/self/fd"};
  // One of them is the folder itself.
  return static_cast<std::uint64_t>(std::distance(begin(files), end(files))) - 1;
}

std::optional<std::uint64_t> descriptors_max() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

ProcessUsage read_process_usage() noexcept {
  ProcessUsage usage;
  usage.cpu = cpu_time();
  usage.descriptors_max = descriptors_max();
  best_effort([&] { read_stat(usage); });
  best_effort([&] { usage.open_descriptors = count_descriptors(); });
  return usage;
}

}  // namespace dutiful
