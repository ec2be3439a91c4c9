// How the run of a command ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/resource.h>
#include <sys/types.h>

#include <dutiful/run.h>

namespace dutiful {

struct CommandResult {
  RunInfo run;
  Duration duration{};
  std::optional<pid_t> process{};    // none if it was not started, or if a record does not say it
  std::optional<int> exit_status{};  // one of these three is set
  std::optional<int> signal{};       // that ended it
  std::string spawn_error{};         // why it was not started
  bool past_time_limit = false;      // it was asked to stop for that
  bool forced = false;               // it was asked to stop because the daemon stops
  Duration user_time{};
  Duration system_time{};
  std::int64_t memory_max = 0;  // bytes; of its largest process
  std::string output{};         // its last bytes
  std::uint64_t output_total = 0;

  [[nodiscard]] bool succeeded() const { return exit_status == 0 && !past_time_limit && !forced; }
};

// How it ended, and the last line that it wrote: "exit status 3: cannot connect".
[[nodiscard]] std::string end_of(const CommandResult& result);

// Why it failed: the same, after what made it end: "time limit exceeded: killed by SIGTERM".
[[nodiscard]] std::string reason_of(const CommandResult& result);

// Sets what wait4() returned.
void record_end(CommandResult& result, int status, const rusage& usage);

}  // namespace dutiful
