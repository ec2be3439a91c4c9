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

void Monitor::on(std::size_t line, Instant at, const TraceEvent& event, std::string_view member) {
  line_ = line;
  if (here_ == nullptr || here_->name != member) here_ = &this->member(member);
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
  const Instant needed = owed_.empty() ? clock_.now() : owed_.front()->owed_at;
  clock_.forget_before(needed);
  while (!owed_.empty()) {
    Task& late = *owed_.front();
    if (clock_.usable_since(late.owed_at, *late.owed_since) <= budget_) break;
    violate("L1",
            quote(late.name()) + " was not started within " + in_seconds(budget_) + " of " +
                format_utc(late.owed_at) + "; it is " + late.why_pending());
    late.overdue = true;
    overdue_.splice(overdue_.end(), owed_, late.owed);
  }
  for (auto& [name, member] : members_) {
    if (!member.saturation.empty()) member.saturation.forget_before(needed);
    if (!member.initializations.empty() || !member.stops.empty()) check_calls(member);
  }
}

void Monitor::check_calls(Member& member) {
  const Micros now = granted(member);
  // L2: G(IS_{R,m} → F^lin(R)_comp (IE_{R,m} ∨ Crash_m))
  if (now > member.initialization_deadline) {
    for (Member::Initialization& init : member.initializations) {
      if (init.reported || now - init.since <= init.budget) continue;
      init.reported = true;
      violate("L2",
              "the initialize of " + format_utc(init.at) + member.by() +
                  " had not returned after " + in_seconds(init.budget));
    }
    member.find_initialization_deadline();
  }
  // L3: G(SS_m → G(FirstQuiescentSince(SS_m) → F^lin(R)_comp (SE_m ∨ Crash_m)))
  for (; member.judged_stops < member.stops.size(); ++member.judged_stops) {
    const Member::Stop& stop = member.stops[member.judged_stops];
    if (!stop.binding) continue;
    if (!stop.quiescent_since || now - *stop.quiescent_since <= budget_) break;
    violate("L3",
            "the stop of " + format_utc(stop.at) + member.by() + " had not returned " +
                in_seconds(budget_) + " after the last callback ended");
  }
}

std::vector<Open> Monitor::open() const {
  std::vector<Open> open;
  for (const Task* task : owed_) {
    open.push_back({"L1", task->owed_at, quote(task->name()) + " is " + task->why_pending()});
  }
  for (const auto& [name, member] : members_) {
    for (const Member::Initialization& init : member.initializations) {
      if (init.reported) continue;
      open.push_back({"L2", init.at, "an initialize" + member.by() + " has not returned"});
    }
    for (std::size_t i = member.judged_stops; i < member.stops.size(); ++i) {
      const Member::Stop& stop = member.stops[i];
      if (!stop.binding || !stop.quiescent_since) continue;
      open.push_back({"L3", stop.at, "a stop" + member.by() + " has not returned"});
    }
  }
  std::ranges::stable_sort(open, {}, &Open::since);
  return open;
}

std::uint64_t Monitor::digest(Duration horizon) const {
  std::uint64_t digest = clock_.frozen() ? 1 : 0;
  const Duration withheld = std::max(clock_.withheld_until(), clock_.now()) -
                            std::max(clock_.frozen_until(), clock_.now());
  digest = digest * 31 + static_cast<std::uint64_t>(withheld.count());
  for (const auto& [name, member] : members_) digest = digest * 31 + member.digest(clock_.now());
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
  Member& member = *here_;
  const bool idle = !member.active && member.initializations.empty() && member.stops.empty();
  member.initializations.push_back({.list = event.registrations,
                                    .valid = is_valid(event.registrations),
                                    .binding = idle,
                                    .may_activate = member.stops.empty(),
                                    .since = granted(member),
                                    .at = clock_.now(),
                                    .budget = setting_.witnesses.budget(bits(event.registrations)),
                                    .call = event.call});
  const Member::Initialization& init = member.initializations.back();
  member.initialization_deadline =
      std::min(member.initialization_deadline, init.since + init.budget);
}

void Monitor::handle(const InitSuccess& event) {
  act("an initialize succeeded");
  auto& calls = here_->initializations;
  if (calls.empty()) {
    violate("S5", "an initialize succeeded that had not begun");
    return;
  }
  // If the trace does not say which call is answered, assume one for which the answer is right.
  auto place = here_->find_call(event.call);
  if (place == calls.end()) {
    place = std::ranges::find(calls, true, &Member::Initialization::valid);
  }
  Member::Initialization init = here_->answer(place != calls.end() ? place : calls.begin());
  // S5: R ∉ ValidRegistrations ⟹ G(¬IEs_R)
  if (!init.valid) {
    violate("S5",
            "the initialize of " + format_utc(init.at) + here_->by() +
                " succeeded with a list that is invalid");
  }
  // Registered_R := Hold(IEs_R, ∃R'≠R. IEs_R'); with another list, Active_R ends as well, on every
  // member (RULES N8).
  if (init.list != list_) {
    acquit_all();
    for (auto& [name, member] : members_) {
      member.superseded |= member.active;
      set_active(member, false);
    }
    register_list(std::move(init.list));
  }
  here_->had_list = true;
  here_->superseded = false;
  set_active(*here_, init.may_activate && here_->stops.empty());
  for (auto& [name, task] : tasks_) owe(task);
}

void Monitor::handle(const InitFailure& event) {
  act("an initialize failed");
  auto& calls = here_->initializations;
  if (calls.empty()) {
    violate("S5", "an initialize failed that had not begun");
    return;
  }
  auto place = here_->find_call(event.call);
  if (place == calls.end()) {
    // Of concurrent calls, the first proceeds and the others are rejected (RULES I4).
    place = event.error == "SchedulerAlreadyActiveError"
                ? std::prev(calls.end())
                : std::ranges::find(calls, false, &Member::Initialization::valid);
  }
  const Member::Initialization init = here_->answer(place != calls.end() ? place : calls.begin());
  if (event.cause == RefusalCause::environment && refused_) {
    refused_({line_, clock_.now(), event.error});
  }
  // S5: R ∈ ValidRegistrations ⟹ G(¬IEf_R), except as RULES H9 and H12 say
  if (init.valid && init.binding && event.cause == RefusalCause::list) {
    violate("S5",
            "the initialize of " + format_utc(init.at) + here_->by() + " failed with " +
                quote(event.error) + ", though its list is valid");
  }
}

void Monitor::handle(const StopStart& event) {
  act("a stop began");
  set_active(*here_, false);
  if (!active()) acquit_all();
  for (Member::Initialization& init : here_->initializations) init.may_activate = false;
  here_->stops.push_back({.at = clock_.now(), .binding = here_->had_list, .call = event.call});
  start_time_of_stops(*here_);
}

// FirstQuiescentSince(σ) := Quiescent_m ∧ (¬Quiescent_m S σ)
void Monitor::start_time_of_stops(Member& member) const {
  if (!member.quiescent()) return;
  auto& stops = member.stops;
  for (auto stop = stops.rbegin(); stop != stops.rend() && !stop->quiescent_since; ++stop) {
    stop->quiescent_since = granted(member);
  }
}

void Monitor::handle(const StopEnd& event) {
  act("a stop ended");
  // S3: G(SE_m → ¬Running_{x,m})
  if (!here_->quiescent()) {
    const auto& running = here_->running;
    const auto by_name = [](const Task* a, const Task* b) { return a->name() < b->name(); };
    const std::string first = quote((*std::ranges::min_element(running, by_name))->name());
    violate(
        "S3",
        "a stop" + here_->by() + " ended while " + first +
            (running.size() == 1 ? " was"
                                 : " and " + std::to_string(running.size() - 1) + " more were") +
            " running");
  }
  auto& stops = here_->stops;
  if (stops.empty()) return;
  auto place = stops.begin();
  if (event.call) {
    place = std::ranges::find(stops, event.call, &Member::Stop::call);
    if (place == stops.end()) place = stops.begin();
  }
  const auto number = static_cast<std::size_t>(place - stops.begin());
  stops.erase(place);
  if (number < here_->judged_stops) --here_->judged_stops;
}

void Monitor::handle(const Freeze& event) {
  if (here_->name.empty()) return clock_.freeze(event.until);
  here_->frozen.freeze(clock_.now(), event.until);
  find_sleep();
}

void Monitor::handle(const Outage& event) {
  clock_.withhold(event.until);
}

// EA2: G(RE_{x,m} ∨ RS_{x,m} ∨ IS_{R,m} ∨ IE_m ∨ SS_m ∨ SE_m → Unfrozen_m)
void Monitor::act(const char* action) {
  if (clock_.frozen()) {
    violate("EA2",
            std::string{action} + " while everything was frozen until " +
                format_utc(clock_.frozen_until()));
  } else if (clock_.now() < here_->frozen.until()) {
    violate("EA2",
            std::string{action} + " while member " + quote(here_->name) + " was frozen until " +
                format_utc(here_->frozen.until()));
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

void Monitor::violate(std::string_view axiom, std::string what) {
  judgement_({axiom, line_, clock_.now(), std::move(what)});
}

Task& Monitor::task(const std::string& name) {
  const auto [place, is_new] = tasks_.try_emplace(name, name);
  if (is_new) place->second.owed = idle_.insert(idle_.end(), &place->second);
  return place->second;
}

Member& Monitor::member(std::string_view name) {
  const auto known = members_.find(name);
  if (known != members_.end()) return known->second;
  // Each life of a scheduler is a member of its own, so those that are over must be forgotten.
  std::erase_if(members_,
                [now = clock_.now()](const auto& entry) { return entry.second.is_over(now); });
  return members_.try_emplace(std::string{name}, name).first->second;
}

void Monitor::set_active(Member& member, bool active) {
  if (member.active == active) return;
  member.active = active;
  active_members_ = active ? active_members_ + 1 : active_members_ - 1;
  find_sleep();
}

// Until when every active member is frozen. What one member does not do, another may, so L1 excuses
// a freeze only if it concerns all of them.
void Monitor::find_sleep() {
  Instant until = active() ? Instant::max() : Instant::min();
  for (const auto& [name, member] : members_) {
    if (member.active) until = std::min(until, member.frozen.until());
  }
  clock_.set_all_frozen_until(until);
}

}  // namespace dutiful::theory
