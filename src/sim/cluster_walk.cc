#include "sim/cluster_walk.h"

#include <algorithm>
#include <utility>

#include "cluster/digest.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using namespace cluster;
using Kind = ClusterStep::Kind;

// Once a year, so that there is one pulse.
const char* const cron = "0 0 3 3 *";
constexpr Instant the_pulse = std::chrono::sys_days{std::chrono::year{2025} / 3 / 3};
constexpr std::size_t hosts = 2;
constexpr std::size_t late_max = 3;
// How long connections and notifications take at most. Each host has its instants for these, so
// that few things happen at the same instant by chance, and many states are the same except for
// the time.
constexpr Duration latency{200};

// The task, the task changed, and another in its place.
const std::vector<TaskConfig>& list_of(std::size_t number) {
  static const std::array<std::vector<TaskConfig>, 3> lists{
      {{{.name = "a", .cron = cron, .retry_delay = 400ms}},
       {{.name = "a", .cron = cron, .retry_delay = 800ms}},
       {{.name = "b", .cron = "0 0 1 1 *", .retry_delay = 400ms}}}};
  return lists.at(number);
}

constexpr std::array<const char*, 9> request_names{
    "Join", "Renew", "Declare", "Take", "Release", "Commit", "Post", "Apply", "Leave"};
constexpr std::array<const char*, 2> channel_names{"renewals", "work"};
constexpr std::array<const char*, 3> list_names{"the task", "the task changed", "no such task"};

ClusterStep step_of(Kind kind, std::size_t host, std::size_t which = 0) {
  return {kind, static_cast<std::uint8_t>(host), static_cast<std::uint8_t>(which)};
}

}  // namespace

ClusterWalk::ClusterWalk()
    : now_(the_pulse - 5s),
      database_(VirtualDatabase{1, Calendar{Zone::utc()}, Override::keep_history}) {
  for (std::size_t host = 0; host < hosts; ++host) {
    hosts_.emplace_back(Host{.process = (host + 1) << 20U});
  }
  start(hosts_[0].write());
  take_first_steps(now_ + 1s);
  start(hosts_[1].write());
  take_first_steps(the_pulse);
}

// Until time would have to pass to that instant.
void ClusterWalk::take_first_steps(Instant until) {
  for (ClusterStep first = steps().front();
       first.kind != Kind::passes || next_instant().value_or(until) < until;
       first = steps().front()) {
    take(first);
  }
}

Instant ClusterWalk::pulse() {
  return the_pulse;
}

// What may happen.

// What a member does by itself concerns nobody else at that instant. So if the members of both
// hosts have something to do, the order makes no difference, and one of them goes on alone.
std::vector<ClusterStep> ClusterWalk::steps() const {
  std::vector<ClusterStep> steps;
  for (std::size_t number = 0; number < hosts; ++number) {
    add_steps_of_member(number, steps);
    if (steps.empty()) continue;
    add_ends(number, steps);
    add_faults(number, steps);
    return steps;
  }

  std::vector<ClusterStep> slow;
  for (std::size_t number = 0; number < hosts; ++number) {
    for (std::size_t channel = 0; channel < channel_names.size(); ++channel) {
      const Line& line = hosts_[number]->lines[channel];
      if (!line.request) continue;
      (line.is_slow ? slow : steps).push_back(step_of(Kind::executes, number, channel));
    }
  }
  const bool is_quiet = steps.empty();
  steps.insert(steps.end(), slow.begin(), slow.end());
  for (std::size_t number = 0; number < hosts; ++number) {
    const Host& host = *hosts_[number];
    if (!host.member || host.is_paused) continue;
    for (std::size_t channel = 0; channel < channel_names.size(); ++channel) {
      const Line& line = host.lines[channel];
      if (line.is_slow && line.answer) steps.push_back(step_of(Kind::answers, number, channel));
    }
  }
  for (std::size_t number = 0; number < hosts; ++number) add_ends(number, steps);
  // Time passes first if somebody is there.
  const bool is_able =
      std::ranges::any_of(hosts_, [](const auto& host) { return host->is_able(); });
  const bool may_pass = next_instant().has_value();
  if (is_quiet && is_able && may_pass) steps.push_back(step_of(Kind::passes, 0));
  for (std::size_t number = 0; is_quiet && number < hosts; ++number) {
    if (!hosts_[number]->member) steps.push_back(step_of(Kind::restarts, number));
  }
  for (std::size_t number = 0; number < hosts; ++number) {
    if (hosts_[number]->is_paused) steps.push_back(step_of(Kind::resumes, number));
  }
  // Otherwise those who are paused have to resume.
  if (is_quiet && !is_able && may_pass) steps.push_back(step_of(Kind::passes, 0));
  for (std::size_t i = 0; i < late_.size(); ++i) {
    steps.push_back(step_of(Kind::executes_late, 0, i));
  }
  for (std::size_t number = 0; number < hosts; ++number) add_faults(number, steps);
  return steps;
}

void ClusterWalk::add_steps_of_member(std::size_t number, std::vector<ClusterStep>& steps) const {
  const Host& host = *hosts_[number];
  if (!host.member || host.is_paused) return;
  const auto is_due = [this](const std::optional<Instant>& at) { return at && *at <= now_; };
  for (std::size_t channel = 0; channel < host.lines.size(); ++channel) {
    const Line& line = host.lines[channel];
    if (line.is_broken) steps.push_back(step_of(Kind::disconnects, number, channel));
    if (is_due(line.connects)) steps.push_back(step_of(Kind::connects, number, channel));
    if (line.answer && !line.is_slow) steps.push_back(step_of(Kind::answers, number, channel));
  }
  if (!host.reports.empty()) steps.push_back(step_of(Kind::reports, number));
  if (!host.begins.empty()) steps.push_back(step_of(Kind::begins, number));
  if (host.member->next_wake() <= boot()) steps.push_back(step_of(Kind::wakes, number));
  if (is_due(host.notified)) steps.push_back(step_of(Kind::notifies, number));
}

void ClusterWalk::add_ends(std::size_t number, std::vector<ClusterStep>& steps) const {
  if (!hosts_[number]->run) return;
  steps.push_back(step_of(Kind::succeeds, number));
  if (may_fail_) steps.push_back(step_of(Kind::fails, number));
}

void ClusterWalk::add_faults(std::size_t number, std::vector<ClusterStep>& steps) const {
  const Host& host = *hosts_[number];
  if (!host.member) return;
  steps.push_back(step_of(Kind::crashes, number));
  for (std::size_t channel = 0; channel < host.lines.size(); ++channel) {
    const Line& line = host.lines[channel];
    if (line.is_open) steps.push_back(step_of(Kind::breaks, number, channel));
    if (line.is_open && !line.is_slow && (channel == 0 || line.request || line.answer)) {
      steps.push_back(step_of(Kind::slows, number, channel));
    }
    if (line.request && std::holds_alternative<Commit>(*line.request)) {
      steps.push_back(step_of(Kind::refuses, number, channel));
      steps.push_back(step_of(Kind::breaks_commit, number, channel));
    }
  }
  if (host.notified) steps.push_back(step_of(Kind::loses, number));
  if (host.is_paused) return;
  steps.push_back(step_of(Kind::pauses, number));
  if (host.is_stopping) return;
  steps.push_back(step_of(Kind::stops, number));
  for (std::size_t list = 0; list < list_names.size(); ++list) {
    if (list != host.list) steps.push_back(step_of(Kind::changes_list, number, list));
  }
}

// When a message that is sent now reaches the host.
Instant ClusterWalk::next_instant_of(const Host& host) const {
  const Duration offset = (host.process >> 20U) * latency / hosts;
  const Duration since = (now_ - the_pulse + 1h - offset) % latency;
  return now_ + latency - since;
}

std::optional<Instant> ClusterWalk::next_instant() const {
  BootTime next = BootTime::max();
  for (const auto& host : hosts_) {
    if (host->member && !host->is_paused) next = std::min(next, host->member->next_wake());
    if (host->lease_until > boot()) next = std::min(next, host->lease_until);
    if (host->is_paused) continue;
    const auto expect = [&](const std::optional<Instant>& at) {
      if (at && *at > now_) next = std::min(next, BootTime{at->time_since_epoch()});
    };
    expect(host->notified);
    for (const Line& line : host->lines) expect(line.connects);
  }
  if (next == BootTime::max()) return std::nullopt;
  return Instant{next.time_since_epoch()};
}

void ClusterWalk::take(const ClusterStep& step) {
  if (step.is_fault()) ++used_[static_cast<std::size_t>(step.kind)];
  if (step.kind == Kind::passes) return pass_time();
  if (step.kind == Kind::executes_late) {
    const Request request = std::move(late_[step.number]);
    late_.erase(late_.begin() + step.number);
    (void)execute(request);
    return;
  }
  Host& host = hosts_[step.host].write();
  Line& line = host.lines[step.number % host.lines.size()];
  const auto channel = static_cast<Channel>(step.number);
  switch (step.kind) {
    case Kind::disconnects:
      line = {};
      host.member->disconnected(channel, boot());
      break;
    case Kind::connects:
      line = {.is_open = true};
      host.member->connected(channel, boot());
      break;
    case Kind::executes:
      return execute(line);
    case Kind::answers:
      line.is_slow = false;
      host.member->answered(channel, *std::exchange(line.answer, {}), boot());
      break;
    case Kind::notifies:
      host.notified.reset();
      host.member->notified(boot());
      break;
    case Kind::wakes:
      host.member->wake(boot());
      break;
    case Kind::begins:
      return begin_run(host);
    case Kind::reports: {
      const auto report = host.reports.front();
      host.reports.erase(host.reports.begin());
      host.member->ended(report.first, report.second, boot());
      break;
    }
    case Kind::succeeds:
      return end_run(host, RunResult::success);
    case Kind::fails:
      may_fail_ = false;
      return end_run(host, RunResult::failure);
    case Kind::restarts:
      return start(host);
    case Kind::resumes:
      host.is_paused = false;
      return;
    case Kind::crashes:
      return end_process(host);
    case Kind::pauses:
      host.is_paused = true;
      return;
    case Kind::breaks:
    case Kind::breaks_commit:
      leave_request(line);
      line = {.is_broken = true};
      return;
    case Kind::slows:
      line.is_slow = true;
      return;
    case Kind::loses:
      host.notified.reset();
      return;
    case Kind::refuses:
      line.request.reset();
      line.answer = Failed{};
      return;
    case Kind::changes_list:
      host.list = step.number;
      host.member->initialize(list_of(host.list), boot());
      break;
    case Kind::stops:
      host.is_stopping = true;
      host.member->stop(boot());
      break;
    case Kind::passes:
    case Kind::executes_late:
      return;
  }
  drain(host);
}

void ClusterWalk::pass_time() {
  now_ = *next_instant();
  for (auto& shared : hosts_) {
    if (!shared->run || boot() < shared->lease_until) continue;
    Host& host = shared.write();  // its guard ends the run
    if (host.member) host.reports.emplace_back(host.run->run, RunResult::interrupted);
    host.run.reset();
  }
  renew();
}

// A renewal during which nothing else happens is one step.
void ClusterWalk::renew() {
  const auto only = [this](Kind kind) -> std::optional<ClusterStep> {
    std::vector<ClusterStep> steps;
    for (std::size_t number = 0; number < hosts; ++number) add_steps_of_member(number, steps);
    for (std::size_t number = 0; number < hosts; ++number) {
      for (std::size_t channel = 0; channel < channel_names.size(); ++channel) {
        const Line& line = hosts_[number]->lines[channel];
        if (line.request && !line.is_slow) {
          steps.push_back(step_of(Kind::executes, number, channel));
        }
      }
    }
    if (steps.size() != 1 || steps.front().kind != kind) return std::nullopt;
    return steps.front();
  };
  const auto wakes = only(Kind::wakes);
  if (!wakes) return;
  take(*wakes);
  const auto executes = only(Kind::executes);
  if (!executes ||
      !std::holds_alternative<Renew>(*hosts_[executes->host]->lines[executes->number].request)) {
    return;
  }
  take(*executes);
  take(*only(Kind::answers));
}

// Processes.

void ClusterWalk::start(Host& host) {
  host.run.reset();  // it ends what an earlier process left
  const auto id = MemberId{++host.process << 20U};
  host.member.emplace(MemberOptions{.calendar = Calendar{Zone::utc()}, .lease = lease}, id);
  host.member->initialize(list_of(host.list), boot());
  drain(host);
}

void ClusterWalk::end_process(Host& host) {
  for (Line& line : host.lines) leave_request(line);
  host.lines = {};
  host.member.reset();
  host.is_paused = false;
  host.is_stopping = false;
  host.notified.reset();
  host.begins.clear();
  host.reports.clear();
}

void ClusterWalk::drain(Host& host) {
  for (const Effect& effect : host.member->take_effects()) {
    std::visit([&](const auto& wanted) { this->perform(host, wanted); }, effect);
    if (!host.member) return;
  }
}

void ClusterWalk::perform(Host& host, const Connect& connect) {
  Line& line = host.lines[static_cast<std::size_t>(connect.channel)];
  leave_request(line);
  line = {.connects = next_instant_of(host)};
}

void ClusterWalk::perform(Host& host, const Send& send) {
  Line& line = host.lines[static_cast<std::size_t>(send.channel)];
  if (line.is_open) line.request = send.request;
}

void ClusterWalk::perform(Host& host, const StartRun& start) {
  host.begins.push_back(start.run);
}

void ClusterWalk::perform(Host& host, const ExtendLease& extend) {
  host.lease_until = extend.until;
}

void ClusterWalk::perform(Host& host, const EndRuns& /*end*/) {
  host.run.reset();
  host.begins.clear();
}

void ClusterWalk::perform(Host& host, const Stopped& /*stopped*/) {
  end_process(host);
}

// The database.

void ClusterWalk::leave_request(Line& line) {
  if (!line.request) return;
  if (late_.size() == late_max) late_.erase(late_.begin());
  late_.push_back(*std::exchange(line.request, {}));
}

Answer ClusterWalk::execute(const Request& request) {
  VirtualDatabase& database = database_.write();
  Answer answer = database.execute(request, now_, *this);
  if (database.take_notification()) {
    for (auto& host : hosts_) {
      if (host->member && !host->notified) host.write().notified = next_instant_of(*host);
    }
  }
  return answer;
}

void ClusterWalk::execute(Line& line) {
  const Request request = *std::exchange(line.request, {});
  line.answer = execute(request);
}

// Runs.

void ClusterWalk::begin_run(Host& host) {
  const RunKey run = host.begins.front();
  host.begins.erase(host.begins.begin());
  // At the last moment before it begins (N5).
  if (boot() >= host.lease_until) {
    host.reports.emplace_back(run, RunResult::interrupted);
    return;
  }
  if (std::ranges::any_of(hosts_, [](const auto& any) { return any->run.has_value(); })) {
    violate("N5", "a runs twice");
  }
  host.run = {run, host.member->id()};
}

void ClusterWalk::end_run(Host& host, RunResult result) {
  const RunKey run = std::exchange(host.run, {})->run;
  if (!host.member) return;
  ended_[run] = result;
  host.reports.emplace_back(run, result);
}

// The judge.

void ClusterWalk::violate(std::string_view axiom, std::string what) {
  if (!violation_) violation_ = {axiom, 0, now_, std::move(what)};
}

void ClusterWalk::list_applied(MemberId /*member*/, const std::vector<TaskConfig>& list) {
  // A task that is registered again is another, and may be owed a run though the run of the first
  // one succeeds.
  if (list.front().name != "a") was_removed_ = true;
}

void ClusterWalk::run_started(MemberId member, const RunKey& run) {
  if (has_succeeded_ && !was_removed_) violate("S1", "a is started again though it has succeeded");
  if (!recorded_.empty()) violate("S1", "a is started while it is recorded as running");
  recorded_[run] = member;
}

void ClusterWalk::run_ended(const RunKey& run, RunResult result) {
  const bool is_lost = recorded_.erase(run) > 0;
  const auto real = ended_.find(run);
  for (const auto& host : hosts_) {
    if (host->run && host->run->run == run) violate("N5", "a runs, and is recorded as ended");
  }
  if (result == RunResult::interrupted) {
    if (is_lost && real != ended_.end()) {
      violate("N4", "a has ended on a member that lives, and its end is lost");
    }
    return;
  }
  if (real == ended_.end()) {
    return violate("N5", "a did not end by itself, and is recorded with a result");
  }
  if (real->second != result) violate("N4", "a is recorded with another result");
  ended_.erase(real);
  if (result == RunResult::success) has_succeeded_ = true;
}

void ClusterWalk::member_declared_dead(MemberId member) {
  std::erase_if(recorded_, [&](const auto& run) { return run.second == member; });
  for (const auto& host : hosts_) {
    if (host->run && host->run->member == member) {
      violate("N3", "a member is declared dead while its run goes on");
    }
  }
}

bool ClusterWalk::is_settled() const {
  for (const auto& [name, record] : database_->records()) {
    const TaskProgress& progress = record.progress;
    if (!record.registered || progress.state != TaskState::awaiting_run) return false;
    if (progress.boot_pending || progress.orphan_pending) return false;
    if (name == "a" && now_ >= the_pulse && progress.served_until < the_pulse) return false;
  }
  return std::ranges::any_of(hosts_, [this](const auto& host) {
    return host->is_able() && host->member->id() == database_->shards().front().holder &&
           host->member->tasks().holds(0);
  });
}

std::uint64_t ClusterWalk::digest() const {
  return Digest::of({.now = now_, .pulse = the_pulse, .age_max = lease}, [this](Digest& digest) {
    for (const std::uint8_t used : used_) digest.add(used);
    digest.add((now_ < the_pulse ? 4U : 0U) + (may_fail_ ? 2U : 0U) +
               (has_succeeded_ && !was_removed_ ? 1U : 0U));
    digest.add(was_removed_ ? 1U : 0U);
    for (const auto& shared : hosts_) {
      const Host& host = *shared;
      digest.add(host.process);
      digest.add(host.list);
      digest.add((host.member ? 4U : 0U) + (host.is_paused ? 2U : 0U) +
                 (host.is_stopping ? 1U : 0U));
      digest.add_deadline(host.notified.value_or(Instant::max()));
      if (host.member) digest.add(*host.member);
      for (const Line& line : host.lines) {
        digest.add((line.is_open ? 4U : 0U) + (line.is_broken ? 2U : 0U) +
                   (line.is_slow ? 1U : 0U));
        digest.add_deadline(line.connects.value_or(Instant::max()));
        if (line.request) digest.add(*line.request);
        if (line.answer) digest.add(*line.answer, host.member->id());
      }
      digest.add_all(host.begins);
      digest.add(host.run ? host.run->run.fence : 0);
      for (const auto& [run, result] : host.reports) {
        digest.add(run);
        digest.add(static_cast<std::uint64_t>(result));
      }
      digest.add_deadline(host.lease_until);
    }
    digest.add(late_.size());
    for (const Request& request : late_) digest.add(request);
    digest.add(database_->generation());
    digest.add(database_->list());
    digest.add(database_->fences().front());
    digest.add_all(database_->shards());
    for (const auto& [id, row] : database_->members()) digest.add(row);
    for (const auto& [name, record] : database_->records()) digest.add(record);
    for (const auto& [run, mail] : database_->mail()) digest.add(mail);
    for (const auto& [run, member] : recorded_) digest.add(run);
    for (const auto& [run, result] : ended_) digest.add(run);
  });
}

std::string ClusterWalk::text(const ClusterStep& step) const {
  const Host& host = *hosts_[step.host];
  const std::string who = "member " + std::to_string(step.host);
  const auto channel = [&] { return std::string{channel_names.at(step.number)}; };
  switch (step.kind) {
    case Kind::disconnects:
      return who + " notices that its connection for " + channel() + " has broken";
    case Kind::connects:
      return who + " connects for " + channel();
    case Kind::executes:
      return "the database executes a " +
             std::string{request_names.at(host.lines.at(step.number).request->index())} + " of " +
             who;
    case Kind::answers:
      return who + " is answered about " + channel();
    case Kind::notifies:
      return who + " is notified";
    case Kind::wakes:
      return who + " wakes";
    case Kind::begins:
      return "a run begins on " + who;
    case Kind::reports:
      return who + " learns that a run has ended";
    case Kind::succeeds:
      return "the run on " + who + " succeeds";
    case Kind::fails:
      return "the run on " + who + " fails";
    case Kind::passes:
      return "time passes";
    case Kind::restarts:
      return who + " starts again";
    case Kind::resumes:
      return who + " resumes";
    case Kind::executes_late:
      return "the database executes a late " +
             std::string{request_names.at(late_.at(step.number).index())};
    case Kind::crashes:
      return who + " crashes";
    case Kind::pauses:
      return who + " is paused";
    case Kind::breaks:
    case Kind::breaks_commit:
      return "the connection of " + who + " for " + channel() + " breaks";
    case Kind::slows:
      return "the connection of " + who + " for " + channel() + " becomes slow";
    case Kind::loses:
      return "a notification of " + who + " is lost";
    case Kind::refuses:
      return "the database fails to commit for " + who;
    case Kind::changes_list:
      return who + " is initialized with " + list_names.at(step.number);
    case Kind::stops:
      return who + " is asked to stop";
  }
  return {};
}

}  // namespace dutiful
