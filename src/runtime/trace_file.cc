#include "runtime/trace_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <dutiful/errors.h>

#include "core/best_effort.h"
#include "runtime/damaged_trace.h"
#include "runtime/trace_check.h"
#include "runtime/trace_lock.h"
#include "text/quote.h"

namespace dutiful {

event::TheoryViolated event_of(const theory::Violation& violation) {
  const bool is_ours = violation.blame() == theory::Blame::scheduler;
  return {.axiom = std::string{violation.axiom},
          .line = static_cast<std::int64_t>(violation.line),
          .violated = violation.at,
          .blame = is_ours ? "scheduler" : "environment",
          .error = violation.what};
}

TraceFile::TraceFile(std::string file, TraceHeader header, const Zone& zone, TraceListener listener)
    : file_(std::move(file)), header_(std::move(header)), listener_(std::move(listener)) {
  if (listener_.violated) {
    monitor_.emplace(theory::setting_of(header_, zone), [this](const theory::Violation& violation) {
      if (!reading_) listener_.violated(violation);
      if (listener_.judgement) listener_.judgement->add_violation(event_of(violation));
    });
  }
  descriptor_ = open_locked_trace(file_);
  if (const std::string damage = take_over(); !damage.empty()) begin_anew(damage);
  recovered_ = !in_flight_.alive();
}

TraceFile::~TraceFile() {
  best_effort([this] { flush(); });
}

void TraceFile::fail(const std::string& reason) {
  throw TraceError(file_, reason);
}

std::string TraceFile::take_over() {
  CheckedTrace found = check_trace(file_, descriptor_.get(), header_);
  if (!found.damage.empty()) return std::move(found.damage);
  if (found.size > 0) return read_file();
  unwritten_ = to_line(header_) + '\n';
  flush();
  if (failing_) fail("cannot be written: the disk may be full");
  lines_ = 1;
  return "";
}

// Reads the events of earlier schedulers, because the state of the trace follows from them.
std::string TraceFile::read_file() {
  reading_ = true;
  std::ifstream in = open_to_read(file_);
  try {
    TraceReader reader{in};
    for (TracedEvent event; reader.read(event);) {
      in_flight_.on(event.at, event.event);
      judge(reader.line(), event.at, event.event);
      latest_ = event.at;
    }
    lines_ = reader.line();
  } catch (const MalformedTrace& error) {
    // A read error, or a lack of memory for a line: the file may be undamaged.
    if (in.bad()) fail(damage_of(error) + "; use another file");
    return damage_of(error);
  }
  reading_ = false;
  return "";
}

// Keeps the damaged file locked until the new one is, so that no other scheduler gets in between.
void TraceFile::begin_anew(const std::string& damage) {
  std::string name;
  try {
    name = set_aside(file_);
  } catch (const std::system_error& error) {
    fail(damage + ", and cannot be renamed: " + error.code().message() + "; use another file");
  }
  // Now, because the next start finds no damage, even if a new trace cannot begin.
  if (listener_.set_aside) listener_.set_aside({std::move(name), damage});
  in_flight_ = {};
  latest_ = Instant::min();
  lines_ = 0;
  reading_ = false;
  monitor_.reset();
  if (listener_.judgement) listener_.judgement->end();
  const Descriptor damaged = std::move(descriptor_);
  descriptor_ = open_locked_trace(file_);
  if (const std::string again = take_over(); !again.empty()) fail(again + "; use another file");
}

void TraceFile::on(Instant at, const TraceEvent& event) {
  if (recovered_) return add(at, event);
  if (const auto* failure = std::get_if<InitFailure>(&event); failure != nullptr && failure->call) {
    // This initialize() did not read the state, which recover() needs. Another one may.
    std::erase_if(waiting_, [&](const TracedEvent& waiting) {
      const auto* start = std::get_if<InitStart>(&waiting.event);
      return start != nullptr && start->call == failure->call;
    });
  } else if (failure != nullptr || std::holds_alternative<Crash>(event)) {
    waiting_.clear();
  } else {
    waiting_.push_back({at, event});
  }
}

void TraceFile::recover(std::span<const DurableTask> state) {
  for (const TracedEvent& event : in_flight_.missing_events(state)) add(event.at, event.event);
  // The crash was after the last event.
  add(latest_, Crash{});
  recovered_ = true;
  for (const TracedEvent& event : std::exchange(waiting_, {})) add(event.at, event.event);
}

void TraceFile::judge(std::size_t line, Instant at, const TraceEvent& event) {
  if (!monitor_) return;
  monitor_->on(line, at, event);
  if (listener_.judgement) listener_.judgement->add_event();
}

// In a trace, time never goes back.
void TraceFile::add(Instant at, const TraceEvent& event) {
  if (ended_) return;
  latest_ = std::max(latest_, at);
  const std::string line = to_line(latest_, event) + '\n';
  // If memory runs out, the trace has the whole event or nothing of it.
  if (unwritten_.capacity() - unwritten_.size() < line.size()) {
    unwritten_.reserve(2 * unwritten_.size() + line.size());
  }
  in_flight_.on(latest_, event);
  judge(lines_ + 1, latest_, event);
  unwritten_.append(line);
  ++lines_;
}

void TraceFile::flush() {
  while (!unwritten_.empty()) {
    const ssize_t written = write(descriptor_.get(), unwritten_.data(), unwritten_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(written));
      continue;
    }
    const std::string error = std::strerror(errno);
    if (unwritten_.size() > unwritten_max) {
      ended_ = true;
      if (listener_.judgement) listener_.judgement->end();
      unwritten_ = {};
      listener_.failed("the trace " + quote(file_) + " ends here: " + error);
    } else if (!std::exchange(failing_, true)) {
      listener_.failed("the trace " + quote(file_) + " cannot be written for now: " + error);
    }
    return;
  }
  failing_ = false;
}

}  // namespace dutiful
