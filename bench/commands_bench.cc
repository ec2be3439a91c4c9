// The daemon with many commands due at one instant, compared with bare posix_spawn() and waitpid()
// of as many, in turns in one run.
//
//   commands_bench TASKS

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <spawn.h>

#include "commands/daemon_process.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>{Clock::now() - begin}.count();
}

// One after the other, as a shell does.
double bare(std::size_t count) {
  const auto begin = Clock::now();
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  for (std::size_t i = 0; i < count; ++i) {
    pid_t process = 0;
    if (posix_spawn(&process, program, nullptr, nullptr, arguments, environ) != 0) std::abort();
    waitpid(process, nullptr, 0);
  }
  return seconds_since(begin);
}

// As many at once as the daemon runs by default.
double bare_at_once(std::size_t count, std::size_t bound) {
  const auto begin = Clock::now();
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  std::size_t running = 0;
  for (std::size_t i = 0; i < count || running > 0;) {
    if (i < count && running < bound) {
      pid_t process = 0;
      if (posix_spawn(&process, program, nullptr, nullptr, arguments, environ) != 0) std::abort();
      ++i;
      ++running;
      while (running > 0 && waitpid(-1, nullptr, WNOHANG) > 0) --running;
    } else {
      waitpid(-1, nullptr, 0);
      --running;
    }
  }
  return seconds_since(begin);
}

struct Figures {
  double started;
  double ended;
  long memory_kb;
};

Figures daemon(std::size_t count) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("tasks.toml");
  {
    std::ofstream out{file};
    out << "[defaults]\nretry = \"1h\"\n";
    for (std::size_t i = 0; i < count; ++i) {
      out << "[[task]]\nname = \"task " << i << "\"\ncron = \"* * * * *\"\nrun = [\"/bin/true\"]\n";
    }
  }
  Process process{{"run", file}};
  // Nothing starts before this line.
  process.await("TaskFileLoaded");
  const auto begin = Clock::now();
  Figures figures{};
  std::size_t ended = 0;
  while (ended < count) {
    const auto line = process.line();
    if (!line) std::abort();
    // Starts may precede the line that was waited for; ends may not.
    if (line->find("\"TaskRunStarted\"") != std::string::npos)
      figures.started = seconds_since(begin);
    if (line->find("\"TaskRunCompleted\"") != std::string::npos) ++ended;
    if (line->find("\"TaskRunFailed\"") != std::string::npos) {
      std::cerr << *line << '\n';
      std::abort();
    }
  }
  figures.ended = seconds_since(begin);
  const std::string status = contents("/proc/" + std::to_string(process.id()) + "/status");
  figures.memory_kb = std::stol(status.substr(status.find("VmHWM:") + 6));
  process.signal(SIGTERM);
  process.end();
  return figures;
}

}  // namespace
}  // namespace dutiful

int main(int argc, char** argv) {
  using namespace dutiful;
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  std::vector<double> ratios;
  for (int round = 0; round < 3; ++round) {
    const double one_by_one = bare(count);
    const double at_once = bare_at_once(count, 64);
    const Figures figures = daemon(count);
    std::cout << count << " commands: last started after " << figures.started
              << " s, all ended after " << figures.ended << " s; bare, one by one: " << one_by_one
              << " s (ratio " << figures.ended / one_by_one << "), 64 at once: " << at_once
              << " s (ratio " << figures.ended / at_once << "); memory at most "
              << figures.memory_kb / 1024 << " MiB\n";
    ratios.push_back(figures.ended / one_by_one);
  }
  std::ranges::sort(ratios);
  std::cout << "median ratio to one by one: " << ratios[1] << '\n';
}
