// Turns what the engine does into the events of RULES V.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <dutiful/calendar.h>

#include "core/core.h"
#include "engine/ending.h"
#include "events/typed_sink.h"

namespace dutiful {

// Each function reports one thing that happened. Without a sink it costs nothing. An exception of
// the sink is ignored: the event is lost, but the scheduler continues.
class Reporter {
 public:
  Reporter(TypedSink sink, Calendar calendar);

  enum class Initialization { first, again };
  void initialization_started(Initialization kind, std::size_t total, Instant now);
  void initialization_completed(Initialization kind, const Plan& plan, Instant now);
  // Reports nothing if the scheduler was active already (seed-004: "Events: None").
  void initialization_failed(const std::exception_ptr& error, Instant now);

  // Reports the error, or its cause, if access was refused: another process holds the state, or a
  // file of the scheduler is a link or belongs to another user.
  void access_refused(const std::exception_ptr& error, Instant now);

  void stop_requested(Instant now);
  void stopped(Instant now);

  // Around a step in which something is due.
  void poll_started(std::size_t tasks, Instant now);
  void poll_completed(std::size_t executed, Duration duration, Instant now);

  // Requires that the start is durable. `cron` is the expression of the task, `served` what the
  // start adds to its account.
  void run_started(const Start& start, const CronExpression& cron, const PulseFates& served);
  // Requires that the end is durable.
  void run_ended(const End& end);

  // RULES T7: a task follows a clock that was set back; `persisted` is the recorded time.
  void clock_corrected(const std::string& name, Instant persisted, Instant now);

  // Reports the minutes that the clocks have skipped since the last call, for each task due in them
  // (T3).
  void gaps(const Core& core, Instant now);

  // A transaction failed (X3). Its starts are undone; the next try is at `next_try`.
  void store_failed(const std::exception_ptr& error, Instant next_try, Instant now);

  // Any other event.
  template <typename What>
  void report(What what, Instant at) {
    if (!sink_) return;
    try {
      sink_({.at = at, .what = std::move(what)});
    } catch (...) {
    }
  }

 private:
  void report_task(const PlannedTask& task, Instant now);
  [[nodiscard]] bool in_repeated_minute(const Start& start) const;
  [[nodiscard]] std::int64_t missed_count(const Start& start, const CronExpression& cron) const;

  TypedSink sink_;
  Calendar calendar_;
  Instant gaps_reported_ = no_instant;
  bool polling_ = false;  // there are tasks, and no stop was requested
};

}  // namespace dutiful
