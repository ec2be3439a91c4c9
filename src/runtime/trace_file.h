// A trace on disk that schedulers add to, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "posix/descriptor.h"
#include "theory/monitor.h"
#include "trace/in_flight.h"
#include "trace/lines.h"

namespace dutiful {

// What a trace tells while it grows. Called by whoever tells the trace something.
struct TraceListener {
  std::function<void(const std::string& error)> failed;
  std::function<void(const theory::Violation&)> violated{};  // none: it is not judged
  // It was damaged, for that reason, and has that name now; a new one has begun.
  struct SetAside {
    std::string file;
    std::string reason;
  };
  std::function<void(const SetAside&)> set_aside{};
};

// Where the last scheduler ended without a stop, what it made durable and could not tell any more
// is told first, and then its crash, as soon as its state is known.
//
// A trace that is damaged is set aside, and a new one begins, which is not judged: it does not know
// what was owed. A file that is no trace is refused, and so is that of a scheduler with other
// options.
//
// A disk that is full does not stop a scheduler: what cannot be written is kept, to be written
// later. Where that is more than 16 MiB, the trace ends there, and for the next scheduler this one
// has crashed.
class TraceFile : public TraceSink {
 public:
  // Throws TraceError: also for a link, and for a file of another user.
  TraceFile(std::string file, TraceHeader header, const Zone& zone, TraceListener listener);
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void on(Instant at, const TraceEvent& event) override;
  void flush() override;
  [[nodiscard]] bool wants_state() const override { return !recovered_; }
  void recover(std::span<const DurableTask> state) override;

 private:
  // These return what is damaged, or nothing.
  [[nodiscard]] std::string take_over();
  [[nodiscard]] std::string read_file();
  void begin_anew(const std::string& damage);
  void add(Instant at, const TraceEvent& event);
  [[noreturn]] void fail(const std::string& reason);

  // More than a scheduler does while a disk is full for a while, and less than hurts.
  static constexpr std::size_t unwritten_max = std::size_t{16} << 20;

  std::string file_;
  TraceHeader header_;
  TraceListener listener_;
  std::optional<theory::Monitor> monitor_;
  Descriptor descriptor_;
  InFlight in_flight_;
  Instant latest_ = Instant::min();
  std::size_t lines_ = 0;
  bool recovered_ = true;
  bool reading_ = false;
  std::vector<TracedEvent> waiting_;  // until the state is known
  std::string unwritten_;
  bool failing_ = false;  // the last write did, and it was told
  bool ended_ = false;
};

}  // namespace dutiful
