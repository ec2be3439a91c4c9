#include "sim/cluster_judge.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "trace/lines.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using namespace cluster;

theory::Setting setting_of(const ClusterScenario& scenario) {
  return {.zone = scenario.zone,
          .override = scenario.policies.override,
          .max_concurrent = scenario.policies.max_concurrent,
          // A healthy cluster starts what is due within a renewal and a few requests.
          .witnesses = {.b = 2s, .lag = 0s}};
}

std::string name_of(MemberId id) {
  return std::to_string(static_cast<std::uint64_t>(id));
}

}  // namespace

ClusterJudge::ClusterJudge(const ClusterScenario& scenario,
                           const std::vector<ClusterHost>& hosts,
                           const VirtualDatabase& database,
                           std::ostream* log)
    : scenario_(scenario),
      hosts_(hosts),
      database_(database),
      log_(log),
      now_(scenario.begin),
      clock_(scenario.begin),
      called_at_(hosts.size()),
      monitor_(setting_of(scenario),
               [this](const theory::Violation& violation) { violated(violation); }) {
  verdict_.faults = scenario.faults.size();
  excuse(0s);
}

void ClusterJudge::tell(const TraceEvent& event, MemberId member) {
  const std::string name = member == MemberId::none ? "" : name_of(member);
  if (log_ != nullptr) *log_ << to_line(judged_now(), event) << " member " << name << '\n';
  monitor_.on(++verdict_.events, judged_now(), event, name);
}

void ClusterJudge::violate(std::string_view axiom, std::string what) {
  violated({axiom, verdict_.events, now_, std::move(what)});
}

void ClusterJudge::violated(const theory::Violation& violation) {
  if (now_ < records_differ_until_) return;
  const std::string_view axiom = violation.axiom;
  if (now_ < clocks_differ_until_ && (axiom == "S1" || axiom == "S2" || axiom == "L1")) return;
  verdict_.violations.push_back(violation);
}

// What cannot be expected.

void ClusterJudge::excuse(Duration length, Duration aftermath) {
  ++disturbances_;
  disturbed_until_ = std::max(disturbed_until_, now_ + length + aftermath);
  withhold(length);
}

void ClusterJudge::withhold(Duration length) {
  unwell_until_ = std::max(unwell_until_, now_ + length);
  tell(Outage{judged_now() + (unwell_until_ - now_) + scenario_.lease + 1s});
}

void ClusterJudge::nobody_is_able(Duration length) {
  excuse(length);
  for (Instant* until : {&clocks_differ_until_, &records_differ_until_}) {
    if (now_ < *until) *until += length;
  }
}

void ClusterJudge::clock_steps(Duration length) {
  if (length > 0s) tell(Outage{judged_now() + length + scenario_.lease + 1s});
  const Instant before = judged_now();
  clock_ += length;
  // The theory knows no clock that goes back, so its own stands still until this one has caught up.
  // What it sees meanwhile is later for the theory than for the members, who agree again when the
  // runs and retries of that time are over.
  if (clock_ < before) {
    clocks_differ_until_ =
        std::max(clocks_differ_until_, now_ + (before - clock_) + 4 * scenario_.lease + 5min);
  }
  excuse(length > 0s ? 0s : -length);
}

// A start or an end that is forgotten is repeated. The theory, which has seen both, agrees with the
// records again when the runs and retries of that time are over. A run whose start is forgotten may
// even overlap with its repetition, until its member has noticed or its lease has ended (N10).
void ClusterJudge::transactions_lost(Duration down) {
  runs_differ_until_ = std::max(runs_differ_until_, now_ + down + scenario_.lease + 1s);
  records_differ_until_ = std::max(records_differ_until_, now_ + down + 4 * scenario_.lease + 5min);
  // A run that the database does not know any more is over as soon as its member has noticed.
  std::erase_if(recorded_runs_, [this](const auto& recorded) {
    const auto& [run, member] = recorded;
    const auto record = database_.records().find(run.task);
    const bool is_known = record != database_.records().end() &&
                          record->second.progress.state == TaskState::running &&
                          record->second.progress.fence == run.fence;
    if (!is_known) tell(RunInterrupted{.task = run.task, .fence = run.fence}, member);
    return !is_known;
  });
  version_ = database_.version();
  for (Generation& generation : called_at_) {
    generation = std::min(generation, database_.generation());
  }
  // An older list may count again, and a member that was declared dead may live again.
  std::vector<TaskConfig> list;
  for (const auto& [name, record] : database_.records()) {
    if (record.registered) list.push_back(record.config);
  }
  for (const ClusterHost& host : hosts_) {
    if (!host.member || host.stopping != MemberId::none) continue;
    const auto row = database_.members().find(host.member->id());
    if (row != database_.members().end() && row->second.accepts) registered(row->first, list);
  }
}

void ClusterJudge::time_stands_still() {
  violate("X3", "the members are busy and time does not pass");
}

// Members.

void ClusterJudge::registered(MemberId member, const std::vector<TaskConfig>& list) {
  InitStart start;
  for (const TaskConfig& config : list) {
    start.registrations.push_back({config.name, config.cron, config.retry_delay});
  }
  tell(start, member);
  tell(InitSuccess{}, member);
  withhold(1s);
}

void ClusterJudge::list_applied(MemberId member, const std::vector<TaskConfig>& list) {
  if (database_.version() < version_) violate("N8", "a list with a lower version was applied");
  version_ = database_.version();
  ++disturbances_;
  registered(member, list);
}

void ClusterJudge::process_starts() {
  withhold(1s);
}

void ClusterJudge::initialize_called(std::size_t host) {
  called_at_[host] = database_.generation();
}

void ClusterJudge::initialized(std::size_t host, Generation generation) {
  if (generation < called_at_[host]) {
    violate("N8", "initialize() has returned, and its list has not counted since it was called");
  }
  const ClusterHost& its = hosts_[host];
  // Another list may count by now, or the member may be about to leave. Then it can decide nothing.
  if (generation != database_.generation() || its.stopping != MemberId::none) return;
  registered(its.member->id(), scenario_.lists[its.list].tasks);
}

// N6, N2: what ran on a member that dies is restarted within a lease and two seconds, and its tasks
// have another member to decide for them.
void ClusterJudge::process_dies(const ClusterHost& host) {
  if (host.member) {
    Takeover takeover{.by = now_ + scenario_.lease + 2s, .from = host.member->id()};
    for (const auto& [run, member] : recorded_runs_) {
      if (member == takeover.from) takeover.runs.push_back(run);
    }
    expect_takeover(std::move(takeover));
  }
  // Its stop will not return. If it has left already, nobody will declare it dead.
  if (host.stopping != MemberId::none) {
    if (database_.members().contains(host.stopping)) {
      gave_up_.insert(host.stopping);
    } else {
      tell(Crash{}, host.stopping);
    }
  }
  excuse(0s);
}

// N6: a member that stops hands its tasks over within a second, though its runs go on.
void ClusterJudge::stop_called(MemberId member) {
  expect_takeover({.by = now_ + 1s, .by_notification = true, .from = member});
  tell(StopStart{}, member);
  excuse(1s);
}

void ClusterJudge::stop_returned(MemberId member, Stopped how) {
  // If it has given up, it may have left all the same, or may leave when the request is executed.
  // Otherwise it will be declared dead.
  if (how.all_recorded || !database_.members().contains(member)) {
    tell(StopEnd{}, member);
  } else {
    gave_up_.insert(member);
  }
}

void ClusterJudge::member_left(MemberId member) {
  if (gave_up_.erase(member) > 0) tell(StopEnd{}, member);
}

void ClusterJudge::member_declared_dead(MemberId member) {
  std::erase_if(recorded_runs_, [&](const auto& run) { return run.second == member; });
  tell(Crash{}, member);
}

// Runs.

void ClusterJudge::run_begins(std::size_t host, const RunKey& run) {
  ++verdict_.runs;
  if (now_ < runs_differ_until_) return;
  for (std::size_t other = 0; other < hosts_.size(); ++other) {
    for (const auto& [earlier, real] : hosts_[other].runs) {
      if (earlier.task != run.task) continue;
      verdict_.violations.push_back({"N5",
                                     verdict_.events,
                                     now_,
                                     run.task + " runs twice: since earlier on host " +
                                         std::to_string(other) + ", and now on host " +
                                         std::to_string(host)});
    }
  }
}

void ClusterJudge::run_started(MemberId member, const RunKey& run) {
  recorded_runs_[run] = member;
  ended_at_.erase(run);  // of a run that was forgotten, so that its fence is used again
  tell(RunStart{.task = run.task, .reason = "cron", .fence = run.fence}, member);
}

void ClusterJudge::run_ended(const RunKey& run, RunResult result) {
  const auto place = recorded_runs_.find(run);
  const MemberId member = place == recorded_runs_.end() ? MemberId::none : place->second;
  if (place != recorded_runs_.end()) recorded_runs_.erase(place);
  const auto real = ended_at_.find(run);
  if (result == RunResult::interrupted) {
    if (member == MemberId::none) return;  // the theory knows what a death has interrupted
    if (real != ended_at_.end()) {
      violate("N4", run.task + " has ended on a member that lives, and its end is lost");
    }
    tell(RunInterrupted{.task = run.task, .fence = run.fence}, member);
    return;
  }
  if (real == ended_at_.end()) {
    violate("N5", run.task + " was ended with its lease, and is recorded with a result");
    return;
  }
  for (Takeover& takeover : takeovers_) std::erase(takeover.runs, run);
  const Instant ended = std::min(real->second, judged_now());
  ended_at_.erase(real);
  if (result == RunResult::success) {
    tell(RunSuccess{.task = run.task, .ended = ended, .fence = run.fence}, member);
  } else {
    tell(RunFailure{.task = run.task, .ended = ended, .fence = run.fence}, member);
  }
}

// Takeovers.

// Only if nothing else disturbs the cluster meanwhile: then how long it takes is known.
void ClusterJudge::expect_takeover(Takeover takeover) {
  if (now_ < disturbed_until_ + scenario_.lease + 2s) return;
  const bool is_possible = std::ranges::any_of(database_.members(), [&](const auto& member) {
    return member.first != takeover.from && member.second.accepts;
  });
  if (!is_possible) return;
  if (scenario_.policies.max_concurrent > 0) takeover.runs.clear();  // they may have to wait (X1)
  const auto& shards = database_.shards();
  for (ShardId id = 0; id < shards.size(); ++id) {
    if (shards[id].holder == takeover.from) takeover.shards.push_back(id);
  }
  takeover.begin = now_;
  takeover.disturbances = disturbances_ + 1;  // it is one itself
  next_takeover_ = std::min(next_takeover_, takeover.by);
  takeovers_.push_back(std::move(takeover));
}

void ClusterJudge::check_takeovers() {
  next_takeover_ = Instant::max();
  std::erase_if(takeovers_, [this](Takeover& takeover) {
    if (takeover.disturbances != disturbances_) return true;
    if (now_ >= takeover.by && takeover.by_notification &&
        notification_lost_at_ >= takeover.begin) {
      takeover.by_notification = false;
      // It is noticed with the next renewal.
      takeover.by += Lease{scenario_.lease}.interval();
    }
    if (now_ >= takeover.by) {
      check(takeover);
      return true;
    }
    next_takeover_ = std::min(next_takeover_, takeover.by);
    return false;
  });
}

void ClusterJudge::check(const Takeover& takeover) {
  ++(takeover.runs.empty() ? verdict_.handovers : verdict_.restarts);
  for (const ShardId id : takeover.shards) {
    const MemberId holder = database_.shards()[id].holder;
    if (holder != takeover.from && database_.members().contains(holder)) continue;
    violate("N6", "nobody decides for a shard of member " + name_of(takeover.from) + " in time");
  }
  for (const RunKey& run : takeover.runs) {
    const auto record = database_.records().find(run.task);
    if (record == database_.records().end() || !record->second.registered) continue;
    if (record->second.progress.fence > run.fence) continue;
    violate("N6", run.task + " is not restarted in time");
  }
}

// The end of the world.

ClusterVerdict ClusterJudge::conclude() {
  // When nothing has gone wrong for long.
  if (now_ >= unwell_until_ + scenario_.lease + 10s) {
    check_runs();
    check_shards();
  }
  return std::move(verdict_);
}

// What is recorded as running runs (N4).
void ClusterJudge::check_runs() {
  for (const auto& [name, record] : database_.records()) {
    if (record.progress.state != TaskState::running) continue;
    const RunKey run{name, record.progress.fence};
    const bool is_old = now_ - record.progress.last_attempt > scenario_.lease + 10s;
    const bool runs = std::ranges::any_of(
        hosts_, [&](const ClusterHost& host) { return host.runs.contains(run); });
    if (!is_old || runs || ended_at_.contains(run)) continue;  // it has ended a moment ago
    violate("N4", name + " is recorded as running, and does not run");
  }
}

// Every shard has a member, as many for each within one (N2, N7).
void ClusterJudge::check_shards() {
  std::map<MemberId, std::size_t> held;
  for (const ClusterHost& host : hosts_) {
    if (host.member && !host.member->is_superseded()) held[host.member->id()] = 0;
  }
  if (held.empty()) return;
  for (const ShardRow& shard : database_.shards()) {
    if (const auto holder = held.find(shard.holder); holder != held.end()) {
      ++holder->second;
    } else {
      violate("N2", "a shard has no member");
    }
  }
  const auto [least, most] =
      std::ranges::minmax_element(held, {}, [](const auto& entry) { return entry.second; });
  if (most->second > least->second + 1) violate("N7", "the shards are not spread evenly");
}

}  // namespace dutiful
