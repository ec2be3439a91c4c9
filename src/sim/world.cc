#include "sim/world.h"

#include "engine/durable.h"

namespace dutiful {
namespace {

std::vector<DurableTask> durable_tasks(const MemoryState& state) {
  std::vector<DurableTask> tasks;
  for (const MemoryState::Row& stored : state.rows) {
    tasks.push_back(durable_task(stored.config, stored.progress));
  }
  return tasks;
}

}  // namespace

World::World(const Zone& zone, const Policies& policies, TraceSink& trace)
    : calendar_(zone, policies.repeated_minutes), policies_(policies), trace_(trace) {
  boot();
}

void World::boot() {
  TraceSink& observer = *this;
  engine_ = std::make_unique<Engine>(
      calendar_,
      policies_,
      [this] { return make_faulty(std::make_unique<MemoryStore>(state_), faults_); },
      observer);
}

void World::on(Instant at, const TraceEvent& event) {
  if (faults_.crashed) return;
  in_flight_.on(at, event);
  trace_.on(at, event);
}

void World::initialize(const std::vector<TaskConfig>& list) {
  try {
    engine_->initialize(list, now_);
  } catch (const Error&) {
    // The engine has traced this itself.
  }
  die_if_crashed();
}

void World::stop() {
  engine_->stop(now_);
  die_if_crashed();
}

void World::crash() {
  faults_ = {};
  for (const TracedEvent& event : in_flight_.missing_events(durable_tasks(*state_))) {
    on(now_, event.event);
  }
  on(now_, Crash{});
  running_.clear();
  engine_.reset();
  boot();
}

void World::die_if_crashed() {
  if (faults_.crashed) crash();
}

std::vector<StartedRun> World::start() {
  std::vector<StartedRun> started;
  for (const Start& start : engine_->step(now_).starts) {
    running_.emplace(runs_, start.task);
    started.push_back({runs_++, start.task, start.name});
  }
  die_if_crashed();
  return started;
}

void World::end(std::uint64_t number, Outcome outcome, Instant returned) {
  const auto run = running_.find(number);
  if (run == running_.end()) return;
  const TaskId task = run->second;
  running_.erase(run);
  const Instant started = engine_->core().task(task).progress.last_attempt;
  engine_->end(task, {outcome, {}, returned, returned - started}, now_);
  engine_->record_ends(now_);
  die_if_crashed();
}

}  // namespace dutiful
