#include "trace/in_flight.h"

#include <algorithm>
#include <utility>

namespace dutiful {
namespace {

bool is_registered(std::vector<TracedRegistration> list, std::span<const DurableTask> state) {
  std::vector<TracedRegistration> durable;
  for (const DurableTask& task : state) durable.push_back(task.registration);
  std::ranges::sort(list, {}, &TracedRegistration::name);
  std::ranges::sort(durable, {}, &TracedRegistration::name);
  return list == durable;
}

}  // namespace

void InFlight::on(Instant at, const TraceEvent& event) {
  if (const auto* start = std::get_if<RunStart>(&event)) {
    started_.insert_or_assign(start->task, at);
    interrupted_.erase(start->task);
  } else if (const auto* ended = std::get_if<RunSuccess>(&event)) {
    started_.erase(ended->task);
  } else if (const auto* failed = std::get_if<RunFailure>(&event)) {
    started_.erase(failed->task);
  } else if (const auto* lost = std::get_if<RunInterrupted>(&event)) {
    if (auto run = started_.extract(lost->task)) {
      interrupted_.insert_or_assign(run.key(), run.mapped());
    }
  } else if (const auto* initialize = std::get_if<InitStart>(&event)) {
    initializing_.push_back(*initialize);
  } else if (const auto* success = std::get_if<InitSuccess>(&event)) {
    active_ = true;
    answer(success->call, false);
  } else if (const auto* refusal = std::get_if<InitFailure>(&event)) {
    answer(refusal->call, refusal->error == "SchedulerAlreadyActiveError");
  } else if (std::holds_alternative<StopStart>(event)) {
    stopping_ = true;
  } else if (std::holds_alternative<StopEnd>(event)) {
    stopping_ = false;
    active_ = false;
  } else if (std::holds_alternative<Crash>(event)) {
    auto interrupted = std::move(interrupted_);
    for (auto& [task, started] : started_) interrupted.insert_or_assign(task, started);
    *this = {};
    interrupted_ = std::move(interrupted);
  }
}

void InFlight::answer(CallNumber call, bool refused) {
  if (initializing_.empty()) return;
  if (call) {
    std::erase_if(initializing_, [&](const InitStart& start) { return start.call == call; });
  } else if (refused) {  // of concurrent calls, the first proceeds (RULES I4)
    initializing_.pop_back();
  } else {
    initializing_.pop_front();
  }
}

std::vector<TracedEvent> InFlight::missing_events(std::span<const DurableTask> state) const {
  std::vector<TracedEvent> events;
  if (!alive()) return events;
  if (!initializing_.empty() && is_registered(initializing_.front().registrations, state)) {
    events.push_back({Instant::min(), InitSuccess{initializing_.front().call}});
  }
  for (const DurableTask& task : state) {
    const std::string& name = task.registration.name;
    const auto traced = started_.find(name);
    if (traced != started_.end()) {
      if (task.running && task.started == traced->second) continue;  // interrupted
      // One transaction may contain the end of this run and the start of the next. If a success and
      // a failure share a millisecond, the instants do not say which one this run had.
      const bool failed = task.running ? task.failed >= task.succeeded : task.awaits_retry;
      const auto& end = failed ? task.failed : task.succeeded;
      if (end && *end >= traced->second) {
        events.push_back({*end, failed ? TraceEvent{RunFailure{name}} : RunSuccess{name}});
      }
    }
    if (!task.running || !task.started) continue;
    const auto before = interrupted_.find(name);
    if (before == interrupted_.end() || before->second != *task.started) {
      events.push_back({*task.started, RunStart{name, task.again ? "retry" : "cron"}});
    }
  }
  std::ranges::stable_sort(events, {}, &TracedEvent::at);
  return events;
}

}  // namespace dutiful
