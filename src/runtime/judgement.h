// What the theory says so far about the trace of a scheduler.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <dutiful/scheduler.h>

#include "events/scheduler_events.h"

namespace dutiful {

struct Judgement {
  std::uint64_t events = 0;  // that were checked, those of earlier schedulers included
  std::uint64_t violations = 0;
  std::optional<event::TheoryViolated> first{};  // of the violations
};

// Keeps the judgement of a trace. One thread at a time writes it, and waits for nobody; any thread
// may read it.
class JudgementBoard {
 public:
  void add_event() noexcept { events_.fetch_add(1, std::memory_order_relaxed); }
  void add_violation(event::TheoryViolated violation);
  // The trace is not checked any longer.
  void end() noexcept { is_ended_ = true; }
  // None: the trace is not checked.
  [[nodiscard]] std::optional<Judgement> read() const;

 private:
  std::atomic<std::uint64_t> events_ = 0;
  std::atomic<std::uint64_t> violations_ = 0;  // the first is there before it is counted
  std::unique_ptr<const event::TheoryViolated> first_;
  std::atomic<bool> is_ended_ = false;
};

// Of a scheduler with Options::verify; none without it. Any thread may ask.
class JudgementProbe {
 public:
  // The scheduler must outlive it.
  explicit JudgementProbe(const Scheduler& scheduler) : scheduler_(scheduler) {}
  [[nodiscard]] std::optional<Judgement> ask() const;

 private:
  const Scheduler& scheduler_;
};

}  // namespace dutiful
