// The file of a trace, to which one scheduler after the other adds its events.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "posix/descriptor.h"
#include "runtime/judgement.h"
#include "theory/monitor.h"
#include "trace/in_flight.h"
#include "trace/lines.h"

namespace dutiful {

// Receives the troubles of a trace, on the thread that adds to it.
struct TraceListener {
  std::function<void(const std::string& error)> failed;
  // Empty: the trace is not checked. Not for violations of earlier schedulers.
  std::function<void(const theory::Violation&)> violated{};
  std::shared_ptr<JudgementBoard> judgement{};  // also with those; may be none
  // The trace was damaged and is renamed; a new one has begun.
  struct SetAside {
    std::string file;
    std::string reason;
  };
  std::function<void(const SetAside&)> set_aside{};
};

[[nodiscard]] event::TheoryViolated event_of(const theory::Violation& violation);

// If the previous scheduler did not stop, recover() first adds the events that it made durable but
// did not trace, and then its crash. Until then, new events wait.
//
// A damaged trace is set aside, and a new one begins. The new one is not checked, because it does
// not show which runs were owed. A file that is not a trace, and a trace of a scheduler with other
// options, are rejected.
//
// A full disk does not stop the scheduler: events that cannot be written are kept, and written
// later. If they exceed 16 MiB, the trace ends there, and to the next scheduler this one has
// crashed.
class TraceFile : public TraceSink {
 public:
  // Throws TraceError, also for a symbolic link and for a file of another user.
  TraceFile(std::string file, TraceHeader header, const Zone& zone, TraceListener listener);
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void on(Instant at, const TraceEvent& event) override;
  void flush() override;
  [[nodiscard]] bool wants_state() const override { return !recovered_; }
  void recover(std::span<const DurableTask> state) override;

 private:
  // These return the damage, or an empty text.
  [[nodiscard]] std::string take_over();
  [[nodiscard]] std::string read_file();
  void begin_anew(const std::string& damage);
  void judge(std::size_t line, Instant at, const TraceEvent& event);
  void add(Instant at, const TraceEvent& event);
  [[noreturn]] void fail(const std::string& reason);

  // Enough for a disk that is full for a while, and little enough to keep in memory.
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
  bool failing_ = false;  // the last write failed, and that was reported
  bool ended_ = false;
};

}  // namespace dutiful
