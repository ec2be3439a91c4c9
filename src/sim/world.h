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

// A callback to run.
struct StartedRun {
  std::uint64_t number;  // in the order of starts
  TaskId task;
  std::string name;
};

// Everything happens when the driver says so, at the instant that the clock shows. The driver
// decides which runs end, and when.
class World : private TraceSink {
 public:
  // Observed events go to the trace, which must outlive the world.
  World(const Zone& zone, const Policies& policies, TraceSink& trace);

  [[nodiscard]] Instant now() const { return now_; }
  void set_clock(Instant now) { now_ = now; }

  void initialize(const std::vector<TaskConfig>& list);
  void stop();
  // The process dies. What is not durable is lost, and a new process starts with the rest.
  void crash();
  void freeze(Instant until) { on(now_, Freeze{until}); }
  void fail_commits(int count) { faults_.failing_commits = count; }
  void crash_in_commit(CrashIn when) { faults_.crash_in = when; }

  // Starts every task that is owed a run; returns none if the process dies while doing so.
  std::vector<StartedRun> start();
  // Ends the run with that number, unless it was interrupted. Its callback ended at `returned`.
  void end(std::uint64_t number, Outcome outcome, Instant returned);
  void end(std::uint64_t number, Outcome outcome) { end(number, outcome, now_); }

  // The running tasks by the number of the run.
  [[nodiscard]] const std::map<std::uint64_t, TaskId>& running() const { return running_; }

  // When start() will next have something to do; in the past if it has already.
  [[nodiscard]] Instant next_wake() const { return engine_->next_wake(); }

  [[nodiscard]] const Engine& engine() const { return *engine_; }
  [[nodiscard]] const Faults& faults() const { return faults_; }
  [[nodiscard]] std::shared_ptr<const MemoryState> state() const { return state_; }

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
