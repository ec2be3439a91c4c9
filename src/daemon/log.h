// Writes the lines of the log without blocking the daemon.
#pragma once

#include <atomic>
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

// Writes lines to a descriptor in its own thread, so that a paused terminal, or a pipe that nobody
// reads, blocks no other thread. Lines that cannot be kept meanwhile are counted, and a line in
// their place reports the number. Safe to use from any thread.
//
// Lines keep their order. The output of commands is dropped first: at most 1 MiB of it waits, so
// that a record does not wait long behind it. Of the records, the last 8 MiB wait: a reader that
// continues after a pause finds the most recent ones.
class Log {
 public:
  // Makes the line that reports how many lines are missing before the next one.
  using FormatDropped = std::function<std::string(std::size_t count)>;
  // How long the destructor waits for a reader.
  struct CloseTimeouts {
    std::chrono::milliseconds idle_max{1'000};    // that reads nothing
    std::chrono::milliseconds total_max{10'000};  // that is slow
  };
  Log(int descriptor, FormatDropped format_dropped)
      : Log(descriptor, std::move(format_dropped), {}) {}
  Log(int descriptor, FormatDropped format_dropped, CloseTimeouts timeouts);
  // Writes the waiting lines, if they are read in time.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Writes a record, given without its newline. If memory runs out, the line is dropped and
  // counted.
  void write(std::string line) noexcept;

  // How many lines have been dropped.
  [[nodiscard]] std::size_t lost() const noexcept { return lost_; }

  // Writes a line of a command's output. The line is made only if there is room for it.
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
    std::size_t dropped;  // lines before it
  };

  static std::size_t size_of(const Line& line) { return line.text.size() + sizeof line; }

  [[nodiscard]] bool admit_output() noexcept;
  void keep_output(std::string line);
  void drop() noexcept;
  void count_dropped() noexcept REQUIRES(mutex_) {
    ++dropped_;
    ++lost_;
  }
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
  std::chrono::milliseconds reader_timeout();

  const int descriptor_;
  const FormatDropped format_dropped_;
  const CloseTimeouts timeouts_;
  Bell bell_;          // rings when the destructor runs
  std::string batch_;  // used by the thread only; its capacity is what a pipe takes at once
  Mutex mutex_;
  Condition changed_;
  std::deque<Line> lines_ GUARDED_BY(mutex_);
  std::size_t records_size_ GUARDED_BY(mutex_) = 0;  // of those in lines_
  std::size_t output_size_ GUARDED_BY(mutex_) = 0;
  bool output_is_full_ GUARDED_BY(mutex_) = false;
  std::size_t dropped_ GUARDED_BY(mutex_) = 0;  // after the last of lines_
  std::atomic<std::size_t> lost_ = 0;           // in all
  bool ending_ GUARDED_BY(mutex_) = false;
  Steady::time_point deadline_ GUARDED_BY(mutex_);  // of the thread; set before the bell rings
  std::thread thread_;
};

}  // namespace dutiful
