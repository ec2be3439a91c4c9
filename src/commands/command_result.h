// How a run of a command ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/resource.h>

#include <dutiful/run.h>

namespace dutiful {

struct CommandResult {
  RunInfo run;
  Duration duration{};
  std::optional<int> exit_status{};  // of these three there is one
  std::optional<int> signal{};       // that ended it
  std::string spawn_error{};         // why it was never started
  bool past_time_limit = false;      // it was asked to end
  bool forced = false;               // the daemon was ending, and did not wait for it
  Duration user_time{};
  Duration system_time{};
  std::int64_t memory_max = 0;  // bytes, of the largest of its processes
  std::string output{};         // the last bytes of what it wrote
  std::uint64_t output_total = 0;

  [[nodiscard]] bool succeeded() const { return exit_status == 0 && !past_time_limit && !forced; }
};

// "exit status 3: cannot connect": what happened, and the last line that the command wrote.
[[nodiscard]] std::string reason_of(const CommandResult& result);

// What wait4() told of its end.
void record_end(CommandResult& result, int status, const rusage& usage);

}  // namespace dutiful
