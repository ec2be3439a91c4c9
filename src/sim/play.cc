#include "sim/play.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "sim/world.h"
#include "text/quote.h"

namespace dutiful {
namespace {

class Player {
 public:
  Player(const Scenario& scenario, TraceSink& trace)
      : scenario_(scenario), world_(scenario.zone, scenario.policies, trace) {}

  void play() {
    auto step = scenario_.steps.begin();
    while (true) {
      world_.set_clock(next_instant(*step));
      take_ends();
      // Steps are in time order, so those that are due come first. A freeze defers the steps after
      // it.
      while (step->at <= world_.now() && (step->kind == Step::Kind::end || !frozen())) {
        if (step->kind == Step::Kind::end) return;
        take(*step++);
      }
      // Steps that wait for the end of the freeze do not happen.
      if (frozen() && end() <= world_.now()) return;
      if (!frozen()) start_runs();
    }
  }

  [[nodiscard]] std::shared_ptr<const MemoryState> state() const { return world_.state(); }

 private:
  // The end of a run, as scripted.
  struct End {
    Instant at;
    std::uint64_t number;
    Outcome outcome;
    friend bool operator<(const End& a, const End& b) { return a.at > b.at; }  // earliest first
  };

  [[nodiscard]] bool frozen() const { return world_.now() < frozen_until_; }

  // When the scheduler learns of the next end. Requires that there is one.
  [[nodiscard]] Instant next_end() const { return ends_.top().at; }

  [[nodiscard]] Instant end() const { return scenario_.steps.back().at; }

  Instant next_instant(const Step& step) {
    Instant next = world_.next_wake();
    if (!ends_.empty()) next = std::min(next, next_end());
    if (step.kind != Step::Kind::end) next = std::min(next, step.at);
    next = std::max({next, frozen_until_, world_.now()});
    return std::min(next, std::max(end(), world_.now()));
  }

  void take_ends() {
    if (frozen()) return;
    std::vector<End> due;
    for (; !ends_.empty() && next_end() <= world_.now(); ends_.pop()) due.push_back(ends_.top());
    std::ranges::sort(due, {}, &End::number);
    // A callback that would return during a freeze returns at its end.
    for (const End& end : due) {
      world_.end(end.number, end.outcome, std::max(end.at, std::min(frozen_until_, world_.now())));
    }
  }

  void take(const Step& step) {
    switch (step.kind) {
      case Step::Kind::initialize:
        return world_.initialize(step.registrations);
      case Step::Kind::stop:
        return world_.stop();
      case Step::Kind::crash:
        return world_.crash();
      case Step::Kind::crash_in_commit:
        return world_.crash_in_commit(step.crash_in);
      case Step::Kind::fail_commits:
        return world_.fail_commits(step.commits);
      case Step::Kind::freeze:
        if (step.until <= world_.now()) return;  // another freeze lasted longer
        frozen_until_ = step.until;
        return world_.freeze(step.until);
      case Step::Kind::set_clock:
        return set_clock(step.until);
      case Step::Kind::end:
        return;
    }
  }

  // For the theory this is a freeze, in which callbacks make no progress.
  void set_clock(Instant to) {
    if (to <= world_.now()) return;
    world_.freeze(to);
    decltype(ends_) shifted;
    for (; !ends_.empty(); ends_.pop()) {
      End end = ends_.top();
      end.at = later(end.at, to - world_.now());
      shifted.push(end);
    }
    ends_ = std::move(shifted);
    world_.set_clock(to);
  }

  void start_runs() {
    for (const StartedRun& started : world_.start()) {
      const ScriptedRun run = next_run(started);
      if (run.result) ends_.push({later(world_.now(), run.takes), started.number, *run.result});
    }
  }

  ScriptedRun next_run(const StartedRun& started) {
    const auto script = scenario_.callbacks.find(started.name);
    if (script == scenario_.callbacks.end() || script->second.empty()) return {};
    const std::vector<ScriptedRun>& runs = script->second;
    const std::size_t invocation = invocations_[started.name]++;
    if (invocation + 1 < runs.size()) return runs[invocation];

    const ScriptedRun& run = runs.back();
    const Core::Task& task = world_.engine().core().task(started.task);
    if (run.result == Outcome::failure && run.takes == Duration::zero() &&
        task.retry_delay == Duration::zero()) {
      throw MalformedScenario("virtual time would stand still: " + quote(started.name) +
                              " always fails at once and is retried at once; let it take a "
                              "millisecond, or delay its retry by one");
    }
    return run;
  }

  const Scenario& scenario_;
  World world_;
  std::priority_queue<End> ends_;
  std::unordered_map<std::string, std::size_t> invocations_;
  Instant frozen_until_ = Instant::min();
};

}  // namespace

std::shared_ptr<const MemoryState> play(const Scenario& scenario, TraceSink& trace) {
  Player player{scenario, trace};
  player.play();
  return player.state();
}

}  // namespace dutiful
