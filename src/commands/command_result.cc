#include "commands/command_result.h"

#include <cstring>

#include <sys/wait.h>

namespace dutiful {
namespace {

constexpr std::size_t last_line_max = 200;

Duration duration_of(const timeval& time) {
  return std::chrono::floor<Duration>(std::chrono::seconds{time.tv_sec} +
                                      std::chrono::microseconds{time.tv_usec});
}

std::string last_line(std::string_view output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == '\r')) {
    output.remove_suffix(1);
  }
  if (const auto newline = output.rfind('\n'); newline != std::string_view::npos) {
    output.remove_prefix(newline + 1);
  }
  return std::string{output.substr(0, last_line_max)};
}

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string{"SIG"} + name;
}

}  // namespace

std::string reason_of(const CommandResult& result) {
  if (!result.spawn_error.empty()) return "not started: " + result.spawn_error;
  std::string reason = result.past_time_limit ? "it ran past its time limit: "
                       : result.forced        ? "stopped with the daemon: "
                                              : "";
  reason += result.signal ? "killed by " + signal_text(*result.signal)
                          : "exit status " + std::to_string(result.exit_status.value_or(0));
  const std::string line = last_line(result.output);
  return line.empty() ? reason : reason + ": " + line;
}

void record_end(CommandResult& result, int status, const rusage& usage) {
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
  } else {
    result.exit_status = WEXITSTATUS(status);
  }
  result.user_time = duration_of(usage.ru_utime);
  result.system_time = duration_of(usage.ru_stime);
  result.memory_max = std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace dutiful
