// Lines for whoever watches the daemon.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "posix/bell.h"
#include "sync/mutex.h"

namespace dutiful {

// Writes lines to a descriptor from a thread of its own: a terminal that is paused, or a pipe that
// nobody reads, holds up nobody. What cannot be kept meanwhile is counted and told of in its place.
// Safe to use from any thread.
//
// Lines come out in the order in which they came in. What commands write is dropped first: of it no
// more than 1 MiB waits, so that a record has little before it. Of the records the last 8 MiB wait:
// when somebody reads again, the end of the story is there.
class Log {
 public:
  // The line that says how many are missing before the next.
  using TellDropped = std::function<std::string(std::size_t count)>;
  // How long the end waits for a reader.
  struct Farewell {
    std::chrono::milliseconds silence_max{1'000};  // that takes nothing
    std::chrono::milliseconds time_max{10'000};    // that is slow
  };
  Log(int descriptor, TellDropped tell_dropped) : Log(descriptor, std::move(tell_dropped), {}) {}
  Log(int descriptor, TellDropped tell_dropped, Farewell farewell);
  // Writes what is left, if somebody reads it.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // A record. The line comes without its newline. One that there is no memory for is dropped.
  void write(std::string line) noexcept;

  // What a command wrote. The line is made only if there is room for it.
  template <typename MakeLine>
  void write_output(const MakeLine& make_line) noexcept {
    if (!admit_output()) return;
    try {
      keep_output(make_line());
    } catch (...) {
      drop();
    }
  }

 private:
  using Steady = std::chrono::steady_clock;
  enum class Kind : bool { record, output };
  struct Line {
    std::string text;
    Kind kind;
    std::size_t dropped;  // before it
  };

  static std::size_t size_of(const Line& line) { return line.text.size() + sizeof line; }

  [[nodiscard]] bool admit_output() noexcept;
  void keep_output(std::string line);
  void drop() noexcept;
  void keep(std::string line, Kind kind) REQUIRES(mutex_);
  [[nodiscard]] Line take_first() REQUIRES(mutex_);
  void drop_first() REQUIRES(mutex_);
  std::size_t& size_of_all(Kind kind) REQUIRES(mutex_) {
    return kind == Kind::record ? records_size_ : output_size_;
  }
  std::string next_text() noexcept REQUIRES(mutex_);
  void loop() noexcept;
  bool put(std::string_view text);
  bool await_reader();
  std::chrono::milliseconds patience();

  const int descriptor_;
  const TellDropped tell_dropped_;
  const Farewell farewell_;
  Bell bell_;          // rings when it is to end
  std::string batch_;  // the thread's own, with room for what a pipe takes at once
  Mutex mutex_;
  Condition changed_;
  std::deque<Line> lines_ GUARDED_BY(mutex_);
  std::size_t records_size_ GUARDED_BY(mutex_) = 0;  // of those in lines_
  std::size_t output_size_ GUARDED_BY(mutex_) = 0;
  bool output_is_full_ GUARDED_BY(mutex_) = false;
  std::size_t dropped_ GUARDED_BY(mutex_) = 0;  // after the last of lines_
  bool ending_ GUARDED_BY(mutex_) = false;
  Steady::time_point end_ GUARDED_BY(mutex_);  // the latest; set before the bell rings
  std::thread thread_;
};

}  // namespace dutiful
