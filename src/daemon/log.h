// Lines for whoever watches the daemon.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "commands/descriptor.h"
#include "sync/mutex.h"

namespace dutiful {

// Writes lines to a descriptor from a thread of its own: a terminal that is paused, or a pipe that
// nobody reads, holds up nobody. What cannot be kept meanwhile is counted and told of later. Safe
// to use from any thread.
class Log {
 public:
  // The line that says how many are missing before the next.
  using TellDropped = std::function<std::string(std::size_t count)>;
  Log(int descriptor, TellDropped tell_dropped);
  // Writes what is left, if somebody reads it within a second.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // The line comes without its newline. One that there is no memory for is dropped.
  void write(std::string line) noexcept;

 private:
  void keep(std::string line) REQUIRES(mutex_);
  void keep_dropped() REQUIRES(mutex_);
  void loop() noexcept;
  bool put(std::string_view text);
  bool await_reader();

  const int descriptor_;
  const TellDropped tell_dropped_;
  Descriptor bell_;    // rings when it is to end
  std::string batch_;  // the thread's own, with room for what a pipe takes at once
  Mutex mutex_;
  Condition changed_;
  std::deque<std::string> lines_ GUARDED_BY(mutex_);
  std::size_t size_ GUARDED_BY(mutex_) = 0;     // of lines_, in bytes
  std::size_t dropped_ GUARDED_BY(mutex_) = 0;  // lines since the last one that was kept
  bool ending_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace dutiful
