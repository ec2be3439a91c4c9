// What a scheduler knows about its tasks, as status() returns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/export.h>
#include <dutiful/run.h>
#include <dutiful/time.h>

namespace dutiful {

// A task of the list that is registered. Everything in it is durable and belongs together: it is
// what the record of the task contained at one moment, and what follows from that at
// SchedulerStatus::at.
struct TaskStatus {
  // RULES K1, and one state that only an observer distinguishes.
  enum class State : std::uint8_t {
    awaiting_run,
    running,  // until the end of the run is recorded
    awaiting_retry,
    interrupted,  // a crash interrupted its last run, and it has not been restarted yet
  };

  // What keeps a run from starting.
  enum class WaitsFor : std::uint8_t {
    nothing,  // it is about to start
    own_run,  // the task still runs (RULES K3)
    limit,    // Options::max_concurrent runs are in progress (RULES X1)
    store,    // the state cannot be written; SchedulerStatus::store_retry_at is the next try
    clock,    // the clock is outside the years 1 to 9999
    restart,  // the scheduler is stopping; the next one starts it
  };

  // A run that the task should have started by now (RULES K2).
  struct Owed {
    Reason reason;  // what the run will start for
    Instant since;  // when that arose
    // How many pulses the run will serve: those that no start has served. May be 0, as for a retry.
    std::int64_t pulses;
    WaitsFor waits_for;

    friend bool operator==(const Owed&, const Owed&) = default;
  };

  // Both belong to the SchedulerStatus, and are valid as long as it or a copy of it exists.
  std::string_view name{};
  std::string_view cron{};

  State state = State::awaiting_run;
  std::uint32_t attempt = 0;  // of the newest run, as are the next four; 0: it has never run
  std::uint64_t fence = 0;
  // None if it has never run. After a restart, and after another list, known only for an attempt 1.
  std::optional<Reason> reason{};
  std::optional<Instant> pulse{};
  std::optional<Instant> last_attempt{};  // when it started
  std::optional<Instant> last_success{};  // when that was recorded, as is the next one
  std::optional<Instant> last_failure{};
  std::optional<Instant> retry_at{};      // when the retry is due, if it awaits one
  std::optional<Instant> first_coming{};  // when it was registered first
  std::optional<Instant> next_pulse{};    // the next one to come; none: it is never due again
  // Since when it has been owed a run, if it does not run and that is more than a second ago: a
  // working scheduler starts what is due within a second.
  std::optional<Instant> overdue_since{};
  std::optional<Owed> owed{};

  // No run has succeeded since the last failure.
  [[nodiscard]] bool is_failing() const noexcept {
    return state == State::awaiting_retry ||
           (last_failure && (!last_success || *last_success < *last_failure));
  }
  // When it starts next if nothing else happens: the next pulse, or the retry that it awaits.
  [[nodiscard]] std::optional<Instant> next_due() const noexcept {
    if (!retry_at || !next_pulse) return retry_at ? retry_at : next_pulse;
    return *retry_at < *next_pulse ? retry_at : next_pulse;
  }

  // The cron expression in words: "At 03:15, Monday through Friday".
  [[nodiscard]] DUTIFUL_EXPORT std::string english() const;

  friend bool operator==(const TaskStatus&, const TaskStatus&) = default;
};

// The names in the specification: "AwaitingRun", "Running", "AwaitingRetry"; and "Interrupted".
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(TaskStatus::State state) noexcept;
// "nothing", "own_run", "limit", "store", "clock" or "restart".
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(TaskStatus::WaitsFor waits_for) noexcept;

// A scheduler and its tasks. A value: it does not change, and outlives the scheduler.
//
// Each task is consistent in itself. Tasks may be some moments apart from each other and from the
// numbers here, because the scheduler continues to work while they are read.
struct SchedulerStatus {
  // RULES I2.
  enum class Lifecycle : std::uint8_t {
    uninitialized,  // there are no tasks
    initializing,   // there are no tasks yet: the first list is being applied
    running,        // also while another list is being applied
    stopping,       // until stop() returns; when the last run has ended, there are no tasks
  };

  Instant at{};  // by the scheduler's clock
  Lifecycle lifecycle = Lifecycle::uninitialized;
  std::vector<TaskStatus> tasks{};  // in the byte order of their names
  // Runs in progress, and those whose end is not recorded. Includes runs of tasks that are no
  // longer in the list.
  std::size_t running = 0;
  std::size_t max_concurrent = 0;                // 0: no limit
  std::optional<Instant> store_failing_since{};  // the first failure since the last success
  std::optional<Instant> store_retry_at{};       // the next try; it may be in progress

  // Nullptr if there is no such task.
  [[nodiscard]] DUTIFUL_EXPORT const TaskStatus* find(std::string_view name) const noexcept;

  std::shared_ptr<const void> texts{};  // internal: what the names and cron expressions point into
};

// "uninitialized", "initializing", "running" or "stopping".
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(SchedulerStatus::Lifecycle lifecycle) noexcept;

}  // namespace dutiful
