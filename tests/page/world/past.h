// Makes a past: a state and a history as daemons leave them behind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <dutiful/scheduler.h>
#include <dutiful/time.h>
#include <dutiful/zone.h>

namespace dutiful::page_world {

// How a run of a command ends.
struct Outcome {
  Duration duration{};
  int exit_status = 0;
  std::string output{};
  int signal = 0;                // it ended the command, if set
  bool past_time_limit = false;  // the signal was sent because of the time limit
};

struct PastTask {
  std::string name{};
  std::string cron{};
  std::string settings{};  // the other lines of the task in the task file
  Duration retry_delay = std::chrono::minutes{5};
  std::function<Outcome(const RunInfo&)> outcome{};
};

enum class EndOfLife { stop, crash };

// A number that depends on these values and on nothing else.
[[nodiscard]] std::uint64_t scramble(std::uint64_t value);
[[nodiscard]] std::uint64_t scramble(const RunInfo& run);
// Between the two durations, decided by the run.
[[nodiscard]] Duration between(const RunInfo& run, Duration least, Duration greatest);

// The tasks of one task file, and what became of them.
class Past {
 public:
  Past(std::string directory, Zone zone, std::vector<PastTask> tasks);

  // A scheduler runs the tasks for this time, in a process of its own that stops or dies at its
  // end. Commands are not started: outcome() decides how they end.
  void live(Instant from, Instant until, EndOfLife end) const;

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string state() const;
  [[nodiscard]] const std::vector<PastTask>& tasks() const { return tasks_; }

 private:
  std::string directory_;
  Zone zone_;
  std::vector<PastTask> tasks_;
};

}  // namespace dutiful::page_world
