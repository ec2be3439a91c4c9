// The judge's view of runs: their starts, ends and interruptions.

#include <algorithm>
#include <utility>

#include "text/quote.h"
#include "theory/monitor.h"
#include "time/iso8601.h"

namespace dutiful::theory {

void Monitor::handle(const RunStart& event) {
  act("a run started");
  Task& started = task(event.task);
  // S1: G(RS_{x,m} → Y (Obligation_{R,x} ∧ Active_{R,m}))
  if (!obligation(started) || !here_->active) {
    violate(
        "S1",
        quote(event.task) + " was started without being owed a run: " + why_no_obligation(started));
  }
  if (Member* runner = started.runner(); runner != nullptr && runner != here_) {
    leave_member(started, {});
  }
  here_->running.insert(&started);
  saturate(*here_);
  acquit(started);
  pulses_.cancel_retry(started);
  started.run_start(clock_.now(), *here_, event.fence);
  pulses_.await_due(started, clock_.now());
}

std::string Monitor::why_no_obligation(const Task& task) const {
  if (task.registration == nullptr) return "it is not registered";
  if (!active()) return "the scheduler is not active";
  if (!here_->active) {
    return "member " + quote(here_->name) +
           (here_->superseded ? " has a list that another has replaced" : " is not active");
  }
  if (task.running()) {
    const Member& runner = *task.runner();
    return "it is running " + (runner.name.empty() ? "" : "on member " + quote(runner.name) + ' ') +
           "since " + format_utc(task.started());
  }
  std::string why = "it has no pulse after " + format_utc(task.cleared());
  if (task.retry_at()) why += ", and its retry is due at " + format_utc(*task.retry_at());
  return why;
}

// Returns whether the newest run was there to end.
bool Monitor::end_run(Task& task, const std::optional<Instant>& ended, const Fence& fence) {
  // S4: G(RE_x → Y Running_x)
  // EA6: G(Crash → (¬RE_x W RS_x))
  if (!task.is_newest(fence)) {
    end_earlier_run(task, ended, fence);
    return false;
  }
  if (!task.running()) {
    if (task.interrupted()) {
      const bool crashed = task.interruption() == Interruption::crash;
      violate("EA6",
              quote(task.name()) + " ended a run, though " +
                  (crashed ? "a crash had interrupted it" : "it had been interrupted"));
    } else {
      violate("S4", quote(task.name()) + " ended a run that had not started");
    }
    return false;
  }
  leave_member(task, ended);
  task.run_end();
  return true;
}

// A run with another fence than the newest ended.
void Monitor::end_earlier_run(Task& task, const std::optional<Instant>& ended, const Fence& fence) {
  EarlierRuns::Run* run = task.earlier_runs().find(fence, here_->name);
  if (run == nullptr) {
    violate("S4", quote(task.name()) + " ended a run that had not started");
    return;
  }
  const bool interrupted = run->interrupted;
  judge_overlap(task, *run, ended);
  if (interrupted) {
    violate("EA6", quote(task.name()) + " ended a run, though it had been interrupted");
  }
}

// N5: G ¬∃m,n. (Run_{x,m} ∧ Run_{x,n}) for two runs, where Run_{x,m} lasts until its run was really
// over.
//
// The run was over at `ended`, if that is known. May erase it.
void Monitor::judge_overlap(Task& task,
                            EarlierRuns::Run& run,
                            const std::optional<Instant>& ended) {
  run.over = true;
  if (!ended || !run.next || *ended <= run.next->at) return;
  const auto on = [](const EarlierRuns::Start& start) {
    return start.member.empty() ? "" : "on member " + quote(start.member) + ' ';
  };
  violate("N5",
          quote(task.name()) + " ran twice at once: " + on(run.start) + "from " +
              format_utc(run.start.at) + " to " + format_utc(*ended) + ", and " + on(*run.next) +
              "from " + format_utc(run.next->at));
  task.earlier_runs().erase(run);
}

// The newest run no longer runs on its member. It was over at `ended`, if that is known.
void Monitor::leave_member(Task& task, const std::optional<Instant>& ended) {
  Member& member = *task.runner();
  // H10: the callback ran until it returned. The time to notice and record the end is the
  // scheduler's.
  if (ended && member.running.size() <= setting_.max_concurrent) {
    clock_.make_room(
        member.saturation, std::max(*ended, task.started()), [this](const auto& collect) {
          for (const auto& [name, other] : members_) collect(other.saturation);
        });
  }
  member.running.erase(&task);
  saturate(member);
  start_time_of_stops(member);
}

void Monitor::handle(const RunSuccess& event) {
  act("a run succeeded");
  Task& ended = task(event.task);
  if (!end_run(ended, event.ended, event.fence)) return forget(ended);
  // S2: AtMostOne(Due_x, RSucc_x); the pulses are those of the schedule now registered (H8)
  const auto successes = ended.succeed();
  if (successes && ended.schedule != nullptr) {
    const auto due = pulses_.next_due(ended.schedule->cron, successes->first);
    if (!due || *due > successes->second) {
      violate("S2",
              quote(event.task) + " succeeded twice with no pulse between: it was started at " +
                  format_utc(successes->first) + " and at " + format_utc(successes->second));
    }
  }
  owe(ended);
  forget(ended);
}

void Monitor::handle(const RunFailure& event) {
  act("a run failed");
  Task& ended = task(event.task);
  if (!end_run(ended, event.ended, event.fence)) return forget(ended);
  if (ended.registration != nullptr) {
    // RetryDue_x at i := ∃j. τ(j) + rd(x) = τ(i) ∧ REf_x at j, for the newest failure (RULES H2)
    ended.run_failure(clock_.now(), ended.registration->retry_delay);
    pulses_.await_retry(ended);
    pass_time(clock_.now());  // a delay of zero has expired
  }
  owe(ended);
  forget(ended);
}

// Not an action: a guard may end a run while its member is frozen (RULES N5), so EA2 does not
// apply.
void Monitor::handle(const RunInterrupted& event) {
  Task& task = this->task(event.task);
  const bool is_newest =
      task.running() && task.is_newest(event.fence) && (event.fence || task.runner() == here_);
  if (is_newest) {
    const std::string& runner = task.runner()->name;
    if (event.ended && *event.ended <= task.started()) {
      task.earlier_runs().not_followed_by(runner, task.started());
    }
    leave_member(task, event.ended);
    task.interrupt(clock_.now(), Interruption::alone);
    if (EarlierRuns::Run* run = task.earlier_runs().find(event.fence, runner)) run->over = true;
    owe(task);
  } else if (EarlierRuns::Run* run = task.earlier_runs().find(event.fence, here_->name)) {
    // Several may say that a run is over. Only the first one says when, by being there.
    judge_overlap(task, *run, event.ended || run->over ? event.ended : clock_.now());
  }
  forget(task);
}

void Monitor::handle(const Crash& /*event*/) {
  Member& member = *here_;
  set_active(member, false);
  if (!active()) acquit_all();
  member.forget_calls();
  std::vector<Task*> interrupted(member.running.begin(), member.running.end());
  member.running.clear();
  saturate(member);
  // If another member is active, these tasks are owed a run at once.
  if (active()) std::ranges::sort(interrupted, {}, &Task::name);
  for (Task* task : interrupted) {
    task->interrupt(clock_.now(), Interruption::crash);
    owe(*task);
  }
}

void Monitor::saturate(Member& member) {
  if (setting_.max_concurrent == 0) return;
  clock_.set_saturated(member.saturation, member.running.size() >= setting_.max_concurrent);
}

}  // namespace dutiful::theory
