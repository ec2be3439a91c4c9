#include "sim/world.h"

#include <algorithm>
#include <stdexcept>

namespace dutiful {
namespace {

class World : public TraceSink {
 public:
  explicit World(const Scenario& scenario) : scenario_(scenario) { boot(); }

  std::vector<TracedEvent> play() {
    auto step = scenario_.steps.begin();
    while (true) {
      const Instant now = next_instant(*step);
      take_ends(now);
      // Steps are in time order, so those that are due come first. A freeze defers what follows it.
      while (step->at <= now && (step->kind == Step::Kind::end || now >= frozen_until_)) {
        if (step->kind == Step::Kind::end) return std::move(events_);
        take(*step++, now);
      }
      if (now >= frozen_until_) start_runs(now);
    }
  }

 private:
  struct Running {
    TaskId task;
    Instant ends_at;
    Outcome outcome;
  };

  // More rounds at one instant than any finite scenario needs.
  static constexpr int rounds_max = 100'000;

  void on(Instant at, const TraceEvent& event) override { events_.push_back({at, event}); }

  void boot() {
    engine_ = std::make_unique<Engine>(
        Calendar{scenario_.zone, scenario_.policies.repeated_minutes},
        scenario_.policies,
        [this] { return std::make_unique<MemoryStore>(state_); },
        *this);
    running_.clear();
  }

  Instant next_instant(const Step& step) {
    Instant next = engine_->next_wake();
    for (const Running& run : running_) next = std::min(next, run.ends_at);
    if (step.kind != Step::Kind::end) next = std::min(next, step.at);
    next = std::max(next, std::max(frozen_until_, now_));
    if (step.kind == Step::Kind::end) next = std::min(next, std::max(step.at, now_));
    rounds_ = next == now_ ? rounds_ + 1 : 0;
    if (rounds_ > rounds_max) throw std::runtime_error("virtual time stands still");
    return now_ = next;
  }

  // In the order in which they started.
  void take_ends(Instant now) {
    if (now < frozen_until_) return;
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].ends_at > now) {
        ++i;
        continue;
      }
      const Running run = running_[i];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      engine_->end(run.task, run.outcome, now);
      engine_->settle(now);
    }
  }

  void take(const Step& step, Instant now) {
    switch (step.kind) {
      case Step::Kind::initialize:
        try {
          engine_->initialize(step.registrations, now);
        } catch (const Error&) {
          // The engine has said so in the trace.
        }
        return;
      case Step::Kind::stop:
        engine_->stop(now);
        return;
      case Step::Kind::crash:
        on(now, Crash{});
        engine_.reset();
        boot();
        return;
      case Step::Kind::freeze:
        on(now, Freeze{step.until});
        frozen_until_ = step.until;
        return;
      case Step::Kind::end:
        return;
    }
  }

  void start_runs(Instant now) {
    for (const Start& start : engine_->step(now)) {
      const std::string& name = engine_->core().task(start.task).config.name;
      const ScriptedRun run = next_run(name);
      if (run.result) running_.push_back({start.task, now + run.takes, *run.result});
    }
  }

  ScriptedRun next_run(const std::string& name) {
    const auto script = scenario_.callbacks.find(name);
    if (script == scenario_.callbacks.end() || script->second.empty()) return {};
    const std::size_t invocation = invocations_[name]++;
    return script->second[std::min(invocation, script->second.size() - 1)];
  }

  const Scenario& scenario_;
  std::shared_ptr<MemoryState> state_ = std::make_shared<MemoryState>();
  std::unique_ptr<Engine> engine_;
  std::vector<Running> running_;
  std::map<std::string, std::size_t> invocations_;
  std::vector<TracedEvent> events_;
  Instant now_ = Instant::min();
  Instant frozen_until_ = Instant::min();
  int rounds_ = 0;
};

}  // namespace

std::vector<TracedEvent> play(const Scenario& scenario) {
  return World{scenario}.play();
}

}  // namespace dutiful
