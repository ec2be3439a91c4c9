// Turns what the engine does into the events of RULES V.
#pragma once

#include <string>

#include <dutiful/calendar.h>
#include <dutiful/events.h>

#include "core/core.h"
#include "engine/ending.h"

namespace dutiful {

// Every function tells one thing that happened; without a sink it costs nothing. An instant outside
// the years 1 to 9999 is told as the nearest inside.
class Reporter {
 public:
  Reporter(EventSink sink, Calendar calendar);

  enum class Initialization { first, again };
  void initialization_started(Initialization kind, std::size_t total, Instant now);
  void initialization_completed(Initialization kind, const Plan& plan, Instant now);
  // None of one that is refused because the scheduler is active (seed-004: "Events: None").
  void initialization_failed(const std::exception_ptr& error, Instant now);

  // If that is why something failed: the state is held by another, or a file of ours is somebody
  // else's or a link. The error may be the cause of the one that is given.
  void access_refused(const std::exception_ptr& error, Instant now);

  void stop_requested(Instant now);
  void stopped(Instant now);

  // Around a step in which something is due.
  void poll_started(std::size_t tasks, Instant now);
  void poll_completed(std::size_t executed, Duration duration, Instant now);

  // Requires that the start is durable. The expression is the task's.
  void run_started(const Start& start, const CronExpression& cron);
  // Requires that the end is durable.
  void run_ended(const End& end);

  // RULES T7: a task goes by a clock that was set back; `persisted` is what its record said.
  void clock_corrected(const std::string& name, Instant persisted, Instant now);

  // The clock is out of range; nothing starts until it is back.
  void clock_out_of_range(const std::string& error, Instant now);

  // What the clocks have jumped over since the last call, for every task that was due in it (T3).
  void gaps(const Core& core, Instant now);

  // Something that the host has not enough of (X3); what needs it is tried again at `next_try`.
  void exhausted(const std::string& error, Instant next_try, Instant now);

  // A transaction failed (X3): its starts are undone, and it is tried again at `next_try`.
  void store_failed(const std::exception_ptr& error, Instant next_try, Instant now);

  // What only the world around the engine knows of.
  void tell(std::string_view name, Level level, Instant at, std::vector<EventField> fields);

 private:
  void tell_task(const PlannedTask& task, Instant now);
  [[nodiscard]] std::int64_t missed_count(const Start& start, const CronExpression& cron) const;

  EventSink sink_;
  Calendar calendar_;
  Instant gaps_told_ = no_instant;
  bool polling_ = false;  // there are tasks, and no stop
};

}  // namespace dutiful
