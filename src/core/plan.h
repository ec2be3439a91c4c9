// What becomes of every task when a list is registered (RULES P2, K4).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <dutiful/calendar.h>

#include "core/policies.h"
#include "core/task.h"

namespace dutiful {

// A task as it is persisted. The number is its place in the store.
struct TaskRecord {
  std::int64_t row = 0;
  TaskConfig config;
  TaskProgress progress;
  std::string scheduler;  // the identifier of the scheduler that wrote it last (P5)

  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

// What a store holds.
struct StoredState {
  std::vector<TaskRecord> records;
  // The newest fence when the list was applied: a removed task takes its own with it. Those of the
  // records may be newer.
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
  bool orphaned = false;  // its run was interrupted: it is restarted at once
  bool changed = true;    // the progress is not the one of its record
  // What it was served until by a clock that has been corrected since (T7); no_instant: it was not.
  Instant corrected_from = no_instant;
  std::int64_t row = no_row;                   // of the record that it continues
  std::unique_ptr<const TaskRecord> before{};  // that record, if it is overridden or orphaned
};

struct Plan {
  std::vector<PlannedTask> tasks;   // in byte order of their names
  std::vector<TaskRecord> removed;  // persisted, but not registered any more
  std::uint64_t fence = 0;          // no run before had a larger one, of whatever task (P8)
};

// RULES T7: an instant of the past that lies further in the future than this was taken from a clock
// that has been corrected since.
inline constexpr std::chrono::hours clock_ahead_max{3};

// Lets pulses after `now` count again where the clock has been corrected. Returns the instant that
// was too far ahead, or no_instant where none was.
Instant correct_clock(TaskProgress& progress, Instant now);

// Lets a task that comes for the first time take over the run that is going on under its name.
void keep_running(TaskProgress& progress, const TaskProgress& before);

// Classifies a list against what the scheduler before has left. Pure: changes nothing.
//
// A record in the state `running` belongs to a scheduler that is no more, and is an orphan (P5);
// when a running scheduler is given a new list, its own runs go on and are not.
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
