#include "cluster/tasks.h"

#include <algorithm>
#include <utility>

#include "core/plan.h"

namespace dutiful::cluster {

Tasks::Tasks(const Calendar& calendar, std::size_t max_concurrent)
    : core_(calendar, max_concurrent) {}

void Tasks::take(std::size_t total,
                 const std::vector<Taken::Shard>& shards,
                 std::vector<Record> records,
                 Instant now) {
  total_ = total;
  for (const Taken::Shard& shard : shards) shards_[shard.id] = shard;
  rebuild(std::move(records), now);
}

void Tasks::drop(const std::vector<ShardId>& shards, Instant now) {
  if (shards.empty()) return;
  for (const ShardId shard : shards) shards_.erase(shard);
  std::erase_if(elsewhere_, [this](const auto& e) { return !holds(e.second.shard); });
  std::erase_if(removed_, [this](const auto& e) { return !holds(e.second); });
  rebuild({}, now);
}

void Tasks::drop_all(Instant now) {
  std::vector<ShardId> all;
  for (const auto& [id, shard] : shards_) all.push_back(id);
  drop(all, now);
}

// Registers the tasks of the shards that are held: those that the core knows, and the loaded ones.
void Tasks::rebuild(std::vector<Record> loaded, Instant now) {
  Plan plan;
  for (const auto& [id, shard] : shards_) plan.fence = std::max(plan.fence, shard.fence);
  for (const auto& [name, held] : tasks_) {
    if (!holds(held.shard)) continue;
    const Core::Task& task = core_.task(held.id);
    plan.tasks.push_back(
        {.config = {.name = name, .cron = core_.cron_text(task), .retry_delay = task.retry_delay},
         .schedule = core_.cron(task),
         .progress = task.progress,
         .classification = Classification::preserved,
         .runs_elsewhere = task.elsewhere});
  }
  for (Record& record : loaded) {
    const ShardId shard = shard_of(record.config.name, total_);
    const bool runs = record.progress.state == TaskState::running;
    const RunKey run{record.config.name, record.progress.fence};
    if (!record.registered) {
      if (!here_.contains(run)) elsewhere_[run.task] = {run, shard, record.runner};
      removed_.emplace(run, shard);
      continue;
    }
    if (runs && !here_.contains(run)) elsewhere_[run.task] = {run, shard, record.runner};
    const CronExpression schedule = CronExpression::parse(record.config.cron);
    plan.tasks.push_back({.config = std::move(record.config),
                          .schedule = schedule,
                          .progress = record.progress,
                          .classification = Classification::preserved,
                          .runs_elsewhere = runs});
  }
  std::ranges::sort(plan.tasks, {}, [](const PlannedTask& task) -> const std::string& {
    return task.config.name;
  });
  core_.apply(plan, now);
  tasks_.clear();
  core_.for_each_registered([&](const Core::Task& task) {
    tasks_.emplace(task.name, Task{core_.id_of(task), shard_of(task.name, total_)});
  });
}

bool Tasks::is_current(const RunKey& run) const {
  if (removed_.contains(run)) return true;
  const auto place = tasks_.find(run.task);
  if (place == tasks_.end()) return false;
  const TaskProgress& progress = core_.task(place->second.id).progress;
  return progress.state == TaskState::running && progress.fence == run.fence;
}

void Tasks::end(const RunKey& run, RunEnd end, Instant now, Decided& decided) {
  const RunResult result = end.result;
  decided.ends.emplace(run, end);
  elsewhere_.erase(run.task);
  if (const auto removed = removed_.find(run); removed != removed_.end()) {
    write(removed->second, decided)
        .tasks.push_back({.run = run, .progress = {}, .ended = result, .forget = true});
    removed_.erase(removed);
    return leave(run, now);
  }
  here_.erase(run);
  const auto& [name, task] = *tasks_.find(run.task);
  if (result == RunResult::interrupted) {
    core_.interrupt(task.id, now);
  } else {
    core_.end(task.id, result == RunResult::success ? Outcome::success : Outcome::failure, now);
  }
  write(name, task, MemberId::none, decided);
  Commit::Task& written = decided.writes.at(task.shard).tasks.back();
  written.ended = result;
  written.posted = end.posted;
}

void Tasks::start(MemberId self, Instant now, Decided& decided) {
  std::vector<ClockCorrection> corrections;
  core_.follow_clock(now, corrections);
  for (const ClockCorrection& correction : corrections) {
    const auto& [name, task] = *tasks_.find(core_.task(correction.task).name);
    const auto runs = elsewhere_.find(name);
    write(name, task, runs == elsewhere_.end() ? self : runs->second.runner, decided);
  }
  decided.starts = core_.start_due(now);
  for (const Start& start : decided.starts) {
    const auto& [name, task] = *tasks_.find(start.name);
    write(name, task, self, decided);
    decided.writes.at(task.shard).tasks.back().started = start.reason;
  }
}

void Tasks::discard(const RunKey& mail, ShardId shard, Decided& decided) {
  write(shard, decided).read.push_back(mail);
}

Commit::Shard& Tasks::write(ShardId shard, Decided& decided) {
  const Taken::Shard& held = shards_.at(shard);
  return decided.writes
      .try_emplace(shard, Commit::Shard{.id = shard, .epoch = held.epoch, .fence = held.fence})
      .first->second;
}

void Tasks::write(const std::string& name, const Task& task, MemberId runner, Decided& decided) {
  const TaskProgress& progress = core_.task(task.id).progress;
  Commit::Shard& shard = write(task.shard, decided);
  shard.fence = std::max(shard.fence, progress.fence);
  const bool runs = progress.state == TaskState::running;
  shard.tasks.push_back({.run = {name, progress.fence},
                         .progress = progress,
                         .runner = runs ? runner : MemberId::none});
}

void Tasks::recorded(const Decided& decided, const Committed& committed) {
  const std::vector<ShardId>& refused = committed.refused;
  std::vector<Start> undone;
  for (const Start& start : decided.starts) {
    const Task& task = tasks_.at(start.name);
    if (std::ranges::find(refused, task.shard) != refused.end()) {
      undone.push_back(start);
    } else {
      here_.emplace(RunKey{start.name, start.fence}, start.task);
      core_.postpone_start(start.task, committed.clock);
    }
  }
  for (const auto& [id, shard] : decided.writes) shards_.at(id).fence = shard.fence;
  core_.undo(undone);
  drop(refused, committed.clock);
  for (const auto& [run, end] : decided.ends) {
    const auto place = tasks_.find(run.task);
    if (place == tasks_.end()) continue;
    const TaskProgress& progress = core_.task(place->second.id).progress;
    const bool is_newest = progress.fence == run.fence && !progress.orphan_pending;
    if (is_newest) core_.postpone_end(place->second.id, end.posted.value_or(committed.clock));
  }
}

void Tasks::abandon(const Decided& decided, Instant now) {
  core_.undo(decided.starts);
  drop_all(now);
}

void Tasks::leave(const RunKey& run, Instant now) {
  const auto place = here_.find(run);
  if (place == here_.end() || core_.task(place->second).registered) return;
  core_.end(place->second, Outcome::success, now);  // what it had to say is for the decider
  here_.erase(place);
}

}  // namespace dutiful::cluster
