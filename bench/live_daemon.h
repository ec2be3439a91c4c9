// `dutiful run --listen` as a process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <dutiful/time.h>

#include "posix/descriptor.h"

namespace dutiful::bench {

// A start in the log.
struct LoggedStart {
  std::string task;
  Instant scheduled;
  Instant woken;                                 // the daemon's time of the start
  std::chrono::system_clock::time_point logged;  // when its line arrived: the start is durable
  bool is_retry;
};

class LiveDaemon {
 public:
  // `write_task` returns the lines of a task beside its name: cron, run, retry.
  LiveDaemon(const std::string& directory,
             std::size_t tasks,
             const std::function<std::string(std::size_t)>& write_task);
  ~LiveDaemon();
  LiveDaemon(const LiveDaemon&) = delete;
  LiveDaemon& operator=(const LiveDaemon&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Waits until the log has this many of the event. Returns the newest of these lines.
  std::string await(const std::string& event, std::size_t count);
  // All so far.
  [[nodiscard]] std::vector<LoggedStart> starts();

 private:
  using Arrival = std::chrono::system_clock::time_point;

  void read_log();

  Descriptor log_;
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::pair<Arrival, std::string>> lines_;
  std::thread reader_;
};

// The fields for the minute and the hour of the current minute in UTC, which is the zone of the
// daemon. Waits if the minute is about to end. A new task with such an expression runs at once (K2)
// and not again during a benchmark.
[[nodiscard]] std::string this_minute();

}  // namespace dutiful::bench
