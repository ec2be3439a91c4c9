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
  } else if (const auto* success = std::get_if<RunSuccess>(&event)) {
    started_.erase(success->task);
  } else if (const auto* failure = std::get_if<RunFailure>(&event)) {
    started_.erase(failure->task);
  } else if (const auto* initialize = std::get_if<InitStart>(&event)) {
    initializing_.push_back(initialize->registrations);
  } else if (std::holds_alternative<InitSuccess>(event)) {
    active_ = true;
    if (!initializing_.empty()) initializing_.pop_front();
  } else if (const auto* refusal = std::get_if<InitFailure>(&event)) {
    if (initializing_.empty()) return;
    // Of concurrent ones, the first proceeds and the others are told so (RULES I4).
    if (refusal->error == "SchedulerAlreadyActiveError") {
      initializing_.pop_back();
    } else {
      initializing_.pop_front();
    }
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

std::vector<TracedEvent> InFlight::untold(std::span<const DurableTask> state) const {
  std::vector<TracedEvent> events;
  if (!alive()) return events;
  if (!initializing_.empty() && is_registered(initializing_.front(), state)) {
    events.push_back({Instant::min(), InitSuccess{}});
  }
  for (const DurableTask& task : state) {
    const std::string& name = task.registration.name;
    const auto told = started_.find(name);
    if (told != started_.end()) {
      if (task.running && task.started == told->second) continue;  // it was interrupted
      // One transaction may have held the end of this run and the start of the next, which makes no
      // difference between a success and a failure in the same millisecond.
      const bool failed = task.running ? task.failed >= task.succeeded : task.awaits_retry;
      const auto& end = failed ? task.failed : task.succeeded;
      if (end && *end >= told->second) {
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
