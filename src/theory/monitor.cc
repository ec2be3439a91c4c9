#include "theory/monitor.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <dutiful/limits.h>

#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful::theory {
namespace {

// ValidRegistrations, with the limits of RULES E.
bool is_valid(const std::vector<TracedRegistration>& list) {
  std::unordered_set<std::string_view> names;
  return std::ranges::all_of(list, [&names](const TracedRegistration& registration) {
    return !registration.name.empty() && registration.name.size() <= task_name_max &&
           names.insert(registration.name).second && registration.cron.size() <= cron_text_max &&
           CronExpression::try_parse(registration.cron) &&
           registration.retry_delay >= Duration::zero();
  });
}

// |R|, as FORMATS defines it.
std::size_t bits(const std::vector<TracedRegistration>& list) {
  return 8 * to_json(list).size();
}

std::string in_seconds(Micros budget) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(budget).count();
  std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
  return std::to_string(ms / 1000) + '.' + fraction + " s";
}

}  // namespace

Setting setting_of(const TraceHeader& header, const Zone& zone) {
  return {.zone = zone,
          .repeated_minutes = header.repeated_minutes.value_or(RepeatedMinutes::both),
          .override = header.override.value_or(Override::keep_history),
          .max_concurrent = header.max_concurrent};
}

Monitor::Monitor(const Setting& setting, Judgement judgement, Refused refused)
    : setting_(setting),
      judgement_(std::move(judgement)),
      refused_(std::move(refused)),
      pulses_(setting.zone, setting.repeated_minutes),
      budget_(setting.witnesses.budget(bits({}))) {}

void Monitor::on(std::size_t line, Instant at, const TraceEvent& event) {
  line_ = line;
  pass_time(at);
  check_budgets();
  std::visit([this](const auto& e) { handle(e); }, event);
}

// The pulses up to an instant, including those at the instant itself, precede its events: a start
// serves them (RULES K3).
void Monitor::pass_time(Instant to) {
  const auto due = [this](Task& task, Instant at) {
    clock_.advance(at);
    task.due(at);
    owe(task);
  };
  const auto retry_due = [this](Task& task, Instant at) {
    clock_.advance(at);
    task.retry_due();
    owe(task);
  };
  while (pulses_.take(to, due, retry_due)) {
  }
  clock_.advance(to);
}

void Monitor::check_budgets() {
  // L1: G(Obligation_{R,x} → F^lin(R)_comp (RS_x ∨ ¬Active_R))
  clock_.saturation().forget_before(owed_.empty() ? clock_.now() : owed_.front()->owed_at);
  while (!owed_.empty()) {
    Task& late = *owed_.front();
    if (clock_.usable_since(late.owed_at, *late.owed_since) <= budget_) break;
    violate("L1",
            quote(late.name()) + " was not started within " + in_seconds(budget_) + " of " +
                format_utc(late.owed_at) + "; it is " + late.why_pending());
    late.overdue = true;
    overdue_.splice(overdue_.end(), owed_, late.owed);
  }
  // L2: G(IS_R → F^lin(R)_comp (IE_R ∨ Crash))
  if (clock_.granted() > initialization_deadline_) {
    for (Initialization& init : initializations_) {
      if (init.reported || clock_.granted() - init.since <= init.budget) continue;
      init.reported = true;
      violate("L2",
              "the initialize of " + format_utc(init.at) + " had not returned after " +
                  in_seconds(init.budget));
    }
    find_initialization_deadline();
  }
  // L3: G(SS_R → G(FirstQuiescentSince(SS_R) → F^lin(R)_comp (SE_R ∨ Crash)))
  for (; judged_stops_ < stops_.size(); ++judged_stops_) {
    const Stop& stop = stops_[judged_stops_];
    if (!stop.binding) continue;
    if (!stop.quiescent_since || clock_.granted() - *stop.quiescent_since <= budget_) break;
    violate("L3",
            "the stop of " + format_utc(stop.at) + " had not returned " + in_seconds(budget_) +
                " after the last callback ended");
  }
}

void Monitor::find_initialization_deadline() {
  initialization_deadline_ = Micros::max();
  for (const Initialization& init : initializations_) {
    if (init.reported) continue;
    initialization_deadline_ = std::min(initialization_deadline_, init.since + init.budget);
  }
}

std::vector<Open> Monitor::open() const {
  std::vector<Open> open;
  for (const Task* task : owed_) {
    open.push_back({"L1", task->owed_at, quote(task->name()) + " is " + task->why_pending()});
  }
  for (const Initialization& init : initializations_) {
    if (!init.reported) open.push_back({"L2", init.at, "an initialize has not returned"});
  }
  for (std::size_t i = judged_stops_; i < stops_.size(); ++i) {
    if (stops_[i].binding && stops_[i].quiescent_since)
      open.push_back({"L3", stops_[i].at, "a stop has not returned"});
  }
  std::ranges::stable_sort(open, {}, &Open::since);
  return open;
}

std::uint64_t Monitor::digest(Duration horizon) const {
  std::uint64_t digest = initializations_.size() * 31 + stops_.size();
  digest = digest * 31 + (active_ ? 1 : 0);
  digest = digest * 31 + (had_list_ ? 1 : 0);
  digest = digest * 31 + (clock_.frozen() ? 1 : 0);
  for (const Stop& stop : stops_) digest = digest * 31 + (stop.quiescent_since ? 1 : 0);
  for (const auto& [name, task] : tasks_) {
    std::uint64_t one = std::hash<std::string>{}(name) + task.digest(clock_.now(), horizon);
    if (task.registration != nullptr) {
      one = one * 31 + std::hash<std::string>{}(task.registration->cron);
      one = one * 31 + static_cast<std::uint64_t>(task.registration->retry_delay.count());
    }
    digest += one * 0x9e3779b97f4a7c15;  // independent of their order
  }
  return digest;
}

void Monitor::handle(const InitStart& event) {
  act("an initialize began");
  const bool idle = !active() && initializations_.empty() && stops_.empty();
  initializations_.push_back({.list = event.registrations,
                              .valid = is_valid(event.registrations),
                              .binding = idle,
                              .may_activate = stops_.empty(),
                              .since = clock_.granted(),
                              .at = clock_.now(),
                              .budget = setting_.witnesses.budget(bits(event.registrations)),
                              .call = event.call});
  const Initialization& init = initializations_.back();
  initialization_deadline_ = std::min(initialization_deadline_, init.since + init.budget);
}

std::deque<Monitor::Initialization>::iterator Monitor::find_call(CallNumber call) {
  return call ? std::ranges::find(initializations_, call, &Initialization::call)
              : initializations_.end();
}

Monitor::Initialization Monitor::answer(const std::deque<Initialization>::iterator& place) {
  Initialization init = std::move(*place);
  initializations_.erase(place);
  if (init.since + init.budget <= initialization_deadline_) find_initialization_deadline();
  return init;
}

void Monitor::handle(const InitSuccess& event) {
  act("an initialize succeeded");
  if (initializations_.empty()) {
    violate("S5", "an initialize succeeded that had not begun");
    return;
  }
  // If the trace does not say which call is answered, assume one for which the answer is right.
  auto place = find_call(event.call);
  if (place == initializations_.end()) {
    place = std::ranges::find(initializations_, true, &Initialization::valid);
  }
  Initialization init = answer(place != initializations_.end() ? place : initializations_.begin());
  // S5: R ∉ ValidRegistrations ⟹ G(¬IEs_R)
  if (!init.valid) {
    violate("S5",
            "the initialize of " + format_utc(init.at) + " succeeded with a list that is invalid");
  }
  // Registered_R := Hold(IEs_R, ∃R'≠R. IEs_R'); with another list, Active_R ends as well.
  if (init.list != list_) {
    acquit_all();
    register_list(std::move(init.list));
  }
  had_list_ = true;
  active_ = init.may_activate && stops_.empty();
  for (auto& [name, task] : tasks_) owe(task);
}

void Monitor::handle(const InitFailure& event) {
  act("an initialize failed");
  if (initializations_.empty()) {
    violate("S5", "an initialize failed that had not begun");
    return;
  }
  auto place = find_call(event.call);
  if (place == initializations_.end()) {
    // Of concurrent calls, the first proceeds and the others are rejected (RULES I4).
    place = event.error == "SchedulerAlreadyActiveError"
                ? std::prev(initializations_.end())
                : std::ranges::find(initializations_, false, &Initialization::valid);
  }
  const Initialization init =
      answer(place != initializations_.end() ? place : initializations_.begin());
  if (event.cause == RefusalCause::environment && refused_) {
    refused_({line_, clock_.now(), event.error});
  }
  // S5: R ∈ ValidRegistrations ⟹ G(¬IEf_R), except as RULES H9 and H12 say
  if (init.valid && init.binding && event.cause == RefusalCause::list) {
    violate("S5",
            "the initialize of " + format_utc(init.at) + " failed with " + quote(event.error) +
                ", though its list is valid");
  }
}

void Monitor::handle(const StopStart& event) {
  act("a stop began");
  active_ = false;
  acquit_all();
  for (Initialization& init : initializations_) init.may_activate = false;
  stops_.push_back({.at = clock_.now(), .binding = had_list_, .call = event.call});
  start_time_of_stops();
}

// FirstQuiescentSince(σ) := Quiescent ∧ (¬Quiescent S σ)
void Monitor::start_time_of_stops() {
  if (!quiescent()) return;
  for (auto stop = stops_.rbegin(); stop != stops_.rend() && !stop->quiescent_since; ++stop) {
    stop->quiescent_since = clock_.granted();
  }
}

void Monitor::handle(const StopEnd& event) {
  act("a stop ended");
  // S3: G(SE → ¬Running_x)
  if (!quiescent()) {
    const auto by_name = [](const Task* a, const Task* b) { return a->name() < b->name(); };
    const std::string first = quote((*std::ranges::min_element(running_, by_name))->name());
    violate(
        "S3",
        "a stop ended while " + first +
            (running_.size() == 1 ? " was"
                                  : " and " + std::to_string(running_.size() - 1) + " more were") +
            " running");
  }
  if (stops_.empty()) return;
  auto place = stops_.begin();
  if (event.call) {
    place = std::ranges::find(stops_, event.call, &Stop::call);
    if (place == stops_.end()) place = stops_.begin();
  }
  const auto number = static_cast<std::size_t>(place - stops_.begin());
  stops_.erase(place);
  if (number < judged_stops_) --judged_stops_;
}

void Monitor::handle(const RunStart& event) {
  act("a run started");
  Task& started = task(event.task);
  // S1: G(RS_x → Y Obligation_x)
  if (!obligation(started)) {
    violate(
        "S1",
        quote(event.task) + " was started without being owed a run: " + why_no_obligation(started));
  }
  running_.insert(&started);
  saturate();
  acquit(started);
  pulses_.cancel_retry(started);
  started.run_start(clock_.now());
  pulses_.await_due(started, clock_.now());
}

std::string Monitor::why_no_obligation(const Task& task) const {
  if (task.registration == nullptr) return "it is not registered";
  if (!active()) return "the scheduler is not active";
  if (task.running()) return "it is running since " + format_utc(task.started());
  std::string why = "it has no pulse after " + format_utc(task.cleared());
  if (task.retry_at()) why += ", and its retry is due at " + format_utc(*task.retry_at());
  return why;
}

// Returns whether there was a run to end.
bool Monitor::end_run(Task& task, const std::optional<Instant>& ended) {
  // S4: G(RE_x → Y Running_x)
  // EA6: G(Crash → (¬RE_x W RS_x))
  if (!task.running()) {
    if (task.interrupted()) {
      violate("EA6", quote(task.name()) + " ended a run, though a crash had interrupted it");
    } else {
      violate("S4", quote(task.name()) + " ended a run that had not started");
    }
    return false;
  }
  // H10: the callback ran until it returned. The time to notice and record the end is the
  // scheduler's.
  if (ended && running_.size() <= setting_.max_concurrent) {
    clock_.saturation().forget_after(std::max(*ended, task.started()));
  }
  task.run_end();
  running_.erase(&task);
  saturate();
  start_time_of_stops();
  return true;
}

void Monitor::handle(const RunSuccess& event) {
  act("a run succeeded");
  Task& ended = task(event.task);
  if (!end_run(ended, event.ended)) return forget(ended);
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
  if (!end_run(ended, event.ended)) return forget(ended);
  if (ended.registration != nullptr) {
    // RetryDue_x at i := ∃j. τ(j) + rd(x) = τ(i) ∧ REf_x at j, for the newest failure (RULES H2)
    ended.run_failure(clock_.now(), ended.registration->retry_delay);
    pulses_.await_retry(ended);
    pass_time(clock_.now());  // a delay of zero has expired
  }
  owe(ended);
  forget(ended);
}

void Monitor::handle(const Crash& /*event*/) {
  active_ = false;
  acquit_all();
  initializations_.clear();
  initialization_deadline_ = Micros::max();
  stops_.clear();
  judged_stops_ = 0;
  had_list_ = false;
  for (Task* task : running_) task->crash(clock_.now());
  running_.clear();
  saturate();
}

void Monitor::handle(const Freeze& event) {
  clock_.freeze(event.until);
}

// EA2: G(RE_x ∨ RS_x ∨ IS_R ∨ IE ∨ SS ∨ SE → Unfrozen)
void Monitor::act(const char* action) {
  if (clock_.frozen()) {
    violate("EA2",
            std::string{action} + " while everything was frozen until " +
                format_utc(clock_.frozen_until()));
  }
}

void Monitor::register_list(std::vector<TracedRegistration> list) {
  const std::vector<TracedRegistration> before = std::exchange(list_, std::move(list));
  budget_ = setting_.witnesses.budget(bits(list_));
  pulses_.clear_schedules();
  for (const TracedRegistration& registration : list_) register_task(registration);
  for (const TracedRegistration& registration : before) remove_task(registration);
}

void Monitor::register_task(const TracedRegistration& registration) {
  const Instant now = clock_.now();
  Task& task = this->task(registration.name);
  const TracedRegistration* before = std::exchange(task.registration, &registration);
  task.schedule = pulses_.schedule(registration.cron);

  // FirstComing_x := (∃R. Registered≈_{R,x}) ∧ ¬(∃R. Y Registered≈_{R,x}); under `reset_history` an
  // override is one too (RULES H10).
  const bool overridden = before != nullptr && *before != registration;
  if (before == nullptr || (overridden && setting_.override == Override::reset_history)) {
    pulses_.cancel_retry(task);
    task.first_coming(now,
                      task.schedule != nullptr && pulses_.mountain_due(task.schedule->cron, now));
    pulses_.await_due(task, now);
    return;
  }
  if (before->cron != registration.cron) task.forget_successes();
  // The pulses of the new schedule since the last start are owed (RULES P2).
  task.forget_pulses();
  const auto due = task.schedule != nullptr ? pulses_.next_due(task.schedule->cron, task.cleared())
                                            : std::optional<Instant>{};
  if (due && *due <= now) {
    task.due(*due);
  } else {
    pulses_.await_due(task, now);
  }
}

// Forgets a task of the previous list unless it is in this one.
void Monitor::remove_task(const TracedRegistration& registration) {
  const auto place = tasks_.find(registration.name);
  if (place == tasks_.end() || place->second.registration != &registration) return;
  Task& task = place->second;
  pulses_.cancel_retry(task);
  task.registration = nullptr;
  task.schedule = nullptr;
  forget(task);
}

// The past of a task that is neither registered nor running does not matter. But if a crash
// interrupted its run, an end after that must be distinguished from an end without a start.
void Monitor::forget(Task& task) {
  if (task.registration != nullptr || task.running() || task.interrupted()) return;
  idle_.erase(task.owed);
  tasks_.erase(tasks_.find(task.name()));
}

void Monitor::owe(Task& task) {
  if (task.owed_since || !obligation(task)) return;
  task.owed_since = clock_.granted();
  task.owed_at = clock_.now();
  owed_.splice(owed_.end(), idle_, task.owed);
}

void Monitor::acquit(Task& task) {
  if (!task.owed_since) return;
  task.owed_since.reset();
  idle_.splice(idle_.end(), std::exchange(task.overdue, false) ? overdue_ : owed_, task.owed);
}

void Monitor::acquit_all() {
  while (!owed_.empty()) acquit(*owed_.front());
  while (!overdue_.empty()) acquit(*overdue_.front());
}

void Monitor::saturate() {
  clock_.set_saturated(setting_.max_concurrent != 0 && running_.size() >= setting_.max_concurrent);
}

void Monitor::violate(std::string_view axiom, std::string what) {
  judgement_({axiom, line_, clock_.now(), std::move(what)});
}

Task& Monitor::task(const std::string& name) {
  const auto [place, is_new] = tasks_.try_emplace(name, name);
  if (is_new) place->second.owed = idle_.insert(idle_.end(), &place->second);
  return place->second;
}

}  // namespace dutiful::theory
