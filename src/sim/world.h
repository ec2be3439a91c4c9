// A virtual world around the real engine: exact time, a state in memory, crashes and faults.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "sim/faults.h"
#include "store/memory/memory_store.h"
#include "trace/in_flight.h"

namespace dutiful {

// A callback that is to run.
struct StartedRun {
  std::uint64_t number;  // in the order of their starts
  TaskId task;
  std::string name;
};

// Everything happens when it is told to, at the instant that the clock shows. Whoever drives it
// decides what and when, and has to say which runs end.
class World : private TraceSink {
 public:
  // What is observed goes to the trace, which must outlive the world.
  World(const Zone& zone, const Policies& policies, TraceSink& trace);

  [[nodiscard]] Instant now() const { return now_; }
  void set_clock(Instant now) { now_ = now; }

  void initialize(const std::vector<TaskConfig>& list);
  void stop();
  // The process dies: what is not durable is lost, and another starts with what is.
  void crash();
  void freeze(Instant until) { on(now_, Freeze{until}); }
  void fail_commits(int count) { faults_.failing_commits = count; }
  void crash_in_commit(CrashIn when) { faults_.crash_in = when; }

  // Starts what is owed a run; none, where the process dies of it.
  std::vector<StartedRun> start();
  // The run of that number ends, unless it has been interrupted. Its callback returned then.
  void end(std::uint64_t number, Outcome outcome, Instant returned);
  void end(std::uint64_t number, Outcome outcome) { end(number, outcome, now_); }

  // The tasks that run, by the number of the run.
  [[nodiscard]] const std::map<std::uint64_t, TaskId>& running() const { return running_; }

  // When start() will next have something to do; in the past where that is now.
  [[nodiscard]] Instant next_wake() const { return engine_->next_wake(); }

  [[nodiscard]] const Engine& engine() const { return *engine_; }
  [[nodiscard]] const Faults& faults() const { return faults_; }
  [[nodiscard]] const MemoryState& state() const { return *state_; }

 private:
  void on(Instant at, const TraceEvent& event) override;
  void boot();
  void die_if_crashed();

  Calendar calendar_;
  Policies policies_;
  TraceSink& trace_;
  Instant now_ = Instant::min();
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  Faults faults_;
  std::unique_ptr<Engine> engine_;
  std::map<std::uint64_t, TaskId> running_;
  std::uint64_t runs_ = 0;
  InFlight in_flight_;
};

}  // namespace dutiful
