// What happens to each task when a list is registered (RULES P2, K4).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <dutiful/calendar.h>

#include "account/account.h"
#include "core/policies.h"
#include "core/task.h"

namespace dutiful {

// A task as it is persisted. The row is its place in the store.
struct TaskRecord {
  std::int64_t row = 0;
  TaskConfig config;
  TaskProgress progress;
  std::string scheduler{};  // the identifier of the last scheduler that wrote it (P5)
  Account account{};

  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

// The contents of a store.
struct StoredState {
  std::vector<TaskRecord> records;
  // The newest fence when the list was applied, because the fence of a removed task is lost with
  // its record. The fences of the records may be newer.
  std::uint64_t fence = 0;

  friend bool operator==(const StoredState&, const StoredState&) = default;
};

enum class Classification : std::uint8_t { added, preserved, overridden };

struct PlannedTask {
  static constexpr std::int64_t no_row = -1;

  TaskConfig config;
  CronExpression schedule;
  TaskProgress progress;
  Classification classification;
  bool orphaned = false;  // its run was interrupted, so it is restarted at once
  bool changed = true;    // the progress or the account differs from that of its record
  // Its served_until by a clock that has been corrected since (T7); no_instant: not corrected.
  Instant corrected_from = no_instant;
  Account account{};
  bool runs_elsewhere = false;                 // it runs, on another member of a cluster
  bool forgets_account = false;                // the record has an account that is forgotten
  std::int64_t row = no_row;                   // of the record that it continues
  std::unique_ptr<const TaskRecord> before{};  // that record, if it is overridden or orphaned
};

struct Plan {
  std::vector<PlannedTask> tasks;   // in byte order of their names
  std::vector<TaskRecord> removed;  // persisted, but no longer registered
  std::uint64_t fence = 0;          // no earlier run of any task has a larger one (P8)
};

// RULES T7: a recorded instant that lies further in the future than this is from a clock that has
// been corrected since.
inline constexpr std::chrono::hours clock_ahead_max{3};

// If the clock has been corrected, lets pulses after `now` count again. Returns the instant that
// was too far ahead; no_instant: none was.
Instant correct_clock(TaskProgress& progress, Instant now);

// Lets a newly registered task take over a run under its name that has not ended.
void keep_running(TaskProgress& progress, const TaskProgress& before);

// Classifies a list against the stored state. Pure: changes nothing.
//
// With `are_interrupted`, a record in the state `running` is from a scheduler that no longer
// exists, so its run was interrupted (P5). With `go_on`, a running scheduler takes a new list, and
// its own runs continue.
//
// Requires unique names and valid cron texts.
enum class Runs { are_interrupted, go_on };
[[nodiscard]] Plan make_plan(std::vector<TaskConfig> list,
                             StoredState stored,
                             Instant now,
                             const Calendar& calendar,
                             Override override,
                             Runs runs);

}  // namespace dutiful
