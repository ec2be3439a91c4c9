#include "cluster/member.h"

#include <algorithm>
#include <utility>

#include "cluster/records.h"
#include "cluster/spread.h"

namespace dutiful::cluster {
namespace {

// How long stop() waits for the database when nothing runs any more.
constexpr std::chrono::seconds leave_patience{5};
constexpr Duration failure_pause{200};

MemberId after(MemberId id) {
  return MemberId{static_cast<std::uint64_t>(id) + 1};
}

// Most views show the same, except that the members have renewed.
bool changes_share(const View& before, const View& after) {
  const auto accepts_alike = [](const MemberRow& a, const MemberRow& b) {
    return a.id == b.id && a.accepts == b.accepts;
  };
  return before.shards != after.shards ||
         !std::ranges::equal(before.members, after.members, accepts_alike);
}

template <typename T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::ranges::find(values, value) != values.end();
}

}  // namespace

Member::Member(MemberOptions options, MemberId first)
    : options_(std::move(options)),
      id_(first),
      lease_(options_.lease),
      tasks_(options_.calendar, options_.max_concurrent) {}

// Inputs.

void Member::initialize(std::vector<TaskConfig> list, BootTime now, ListVersion version) {
  list_ = std::move(list);
  std::ranges::sort(list_, {}, &TaskConfig::name);
  version_ = version;
  print_ = print_of(list_, version_, options_.settings);
  called_ = now;
  initialized_ = false;
  superseded_ = false;
  applied_at_.reset();
  applies_ = true;
  if (phase_ == Phase::idle) {
    phase_ = Phase::joining;
    for (Link& link : links_) link = {};
  } else if (phase_ == Phase::joined) {
    heed_list();
  }
  drive(now);
}

void Member::stop(BootTime now) {
  if (phase_ == Phase::idle) {
    effects_.emplace_back(Stopped{});
    return;
  }
  if (phase_ == Phase::joining) return finish_stop({});
  phase_ = Phase::leaving;
  next_renewal_ = now;  // the others see at once that it accepts no shards
  drive(now);
}

void Member::connected(Channel channel, BootTime now) {
  link(channel).connected();
  drive(now);
}

void Member::disconnected(Channel channel, BootTime now) {
  break_off(channel, now);
  drive(now);
}

void Member::notified(BootTime now) {
  looks_soon_ = true;
  drive(now);
}

void Member::ended(const RunKey& run, RunResult result, BootTime now) {
  const auto place = runs_.find(run);
  if (place == runs_.end() || place->second.result) return;
  place->second.result = result;
  if (!decided_.ends.contains(run)) tasks_.leave(run, database_now(now));
  drive(now);
}

void Member::wake(BootTime now) {
  drive(now);
}

void Member::answered(Channel channel, Answer answer, BootTime now) {
  if (!link(channel).waits()) return;  // the request was given up
  link(channel).answered();
  if (channel == Channel::renewals) {
    answered_renewal(answer, now);
  } else {
    answered_work(answer, now);
  }
  drive(now);
}

// Connections.

void Member::drive(BootTime now) {
  if (phase_ == Phase::idle) return;
  if (!lease_.holds(now) && !std::exchange(lapsed_, true)) watch_.restart();
  drive_renewals(now);
  drive_work(now);
  if (phase_ != Phase::leaving) return;
  const bool quiescent =
      std::ranges::all_of(runs_, [](const auto& run) { return run.second.result.has_value(); });
  if (!quiescent) {
    quiescent_since_.reset();
  } else if (!quiescent_since_) {
    quiescent_since_ = now;
  } else if (now >= *quiescent_since_ + leave_patience) {
    finish_stop({.all_recorded = false});
  }
}

bool Member::reconnect(Channel channel, BootTime now) {
  if (link(channel).is_overdue(now, patience(channel))) break_off(channel, now);
  if (!link(channel).may_connect(now)) return false;
  link(channel).connect(now);
  effects_.emplace_back(Connect{channel});
  return true;
}

// An answer to a renewal must leave time for another try before the lease ends.
Duration Member::patience(Channel channel) const {
  return channel == Channel::renewals ? options_.lease / 3 : options_.lease;
}

void Member::send(Channel channel, Request request, BootTime now) {
  link(channel).send(now);
  effects_.emplace_back(Send{channel, std::move(request)});
}

void Member::break_off(Channel channel, BootTime now) {
  link(channel).break_off(now);
  if (channel == Channel::renewals) {
    watch_.restart();
  } else {
    abandon(now);
  }
}

void Member::drive_renewals(BootTime now) {
  if (reconnect(Channel::renewals, now) || !link(Channel::renewals).may_send()) return;
  if (phase_ == Phase::joining) {
    id_ = after(id_);  // a Join whose answer was lost may still happen
    send(Channel::renewals, Join{id_, options_.lease}, now);
  } else if (looks_soon_ || next_renewal_ <= now) {
    looks_soon_ = false;
    next_renewal_ = now + lease_.interval();
    send(Channel::renewals, Renew{id_, accepts(now)}, now);
  }
}

void Member::drive_work(BootTime now) {
  if (reconnect(Channel::work, now) || !link(Channel::work).may_send()) return;
  if (phase_ == Phase::joining || !lease_.holds(now) || now < paused_until_) return;
  if (auto request = next_request(now)) send(Channel::work, std::move(*request), now);
}

bool Member::accepts(BootTime now) const {
  if (phase_ != Phase::joined || !initialized_ || superseded_) return false;
  return now >= declines_until_ || !others_accept();
}

bool Member::others_accept() const {
  return std::ranges::any_of(view_.members,
                             [this](const MemberRow& row) { return row.id != id_ && row.accepts; });
}

// Answers.

void Member::answered_renewal(Answer& answer, BootTime now) {
  const BootTime sent = link(Channel::renewals).sent();
  if (std::holds_alternative<Dead>(answer)) return die(now);
  auto* const looked = std::get_if<Looked>(&answer);
  if (looked == nullptr) return;  // it failed; the next one is due soon
  if (phase_ == Phase::joining) {
    phase_ = Phase::joined;
    renewals_ = 0;
    work_view_.reset();
    next_renewal_ = now + lease_.interval();
  } else if (looked->view.renewals <= renewals_) {
    return forget(now);  // an acknowledged renewal is gone
  }
  if (misses_runs(looked->view, sent)) return forget(now);
  renewals_ = looked->view.renewals;
  lease_.renew(sent);
  if (lease_.holds(now)) lapsed_ = false;
  effects_.emplace_back(ExtendLease{lease_.until()});
  look(std::move(looked->view), Channel::renewals, sent, now);
}

void Member::answered_work(Answer& answer, BootTime now) {
  const BootTime sent = link(Channel::work).sent();
  const Work work = std::exchange(work_, Work::none);
  if (std::holds_alternative<Dead>(answer)) return die(now);
  if (std::holds_alternative<Failed>(answer)) {
    paused_until_ = now + failure_pause;
    if (work == Work::commit) {
      work_ = work;
      abandon(now);
      if (!failing_since_) failing_since_ = now;
      if (others_accept() && now - *failing_since_ >= options_.lease) {
        declines_until_ = now + 3 * options_.lease;
        failing_since_.reset();
      }
    }
    return;
  }
  if (auto* const looked = std::get_if<Looked>(&answer)) {
    if (misses_runs(looked->view, sent)) return forget(now);
    applied_at_.reset();  // an Apply that is answered so did not happen
    look(std::move(looked->view), Channel::work, sent, now);
    if (work == Work::declare) share_shards_of_dead(looked->orphaned);
  } else if (auto* const shards = std::get_if<Taken>(&answer)) {
    View view = shards->view;
    if (misses_runs(view, sent)) return forget(now);
    const bool is_newest_list = work == Work::apply && sent >= called_;
    if (is_newest_list) applies_ = false;
    if (work == Work::apply) {
      applied_at_.reset();
      generation_ = view.generation;
      tasks_.drop_all(database_now(now));
    }
    look(std::move(view), Channel::work, sent, now);
    // Shards with the tasks of a list that is its own no more are for others.
    if (work != Work::apply || is_newest_list) taken(std::move(*shards), now);
    if (is_newest_list && !std::exchange(initialized_, true)) {
      effects_.emplace_back(Initialized{generation_});
    }
  } else if (const auto* const answered = std::get_if<Committed>(&answer)) {
    committed(*answered, now);
  } else if (work == Work::release) {
    tasks_.drop_all(database_now(now));
    after_drop(now);
  } else if (work == Work::post) {
    for (const RunKey& run : std::exchange(posted_, {})) runs_.erase(run);
  } else if (work == Work::leave) {
    return finish_stop({});
  }
  heed_view(now);
}

// Of two views, the later one counts. A renewal shows the number that it made itself, so it is
// older than a view of the work channel that shows this number too.
void Member::look(View view, Channel channel, BootTime sent, BootTime now) {
  time_.sync(view.clock, sent, now);
  if (channel == Channel::work) {
    if (view.renewals < view_.renewals) return;
    work_view_ = view.renewals;
  } else if (work_view_ && view.renewals <= *work_view_) {
    return;
  }
  watch_.see(view.members, id_, now);
  const bool moves = changes_share(view_, view);
  view_ = std::move(view);
  view_sent_ = sent;
  if (moves) share_ = share_of(id_, view_.members, view_.shards);
  if (work_ == Work::none) heed_view(now);
}

// Draws the conclusions from the newest view. While a request is on its way, its answer comes
// first.
void Member::heed_view(BootTime now) {
  if (phase_ == Phase::idle || phase_ == Phase::joining) return;
  heed_list();
  std::vector<ShardId> lost;
  for (const auto& [id, shard] : tasks_.shards()) {
    if (view_.shards[id].epoch > shard.epoch) lost.push_back(id);
  }
  if (!lost.empty()) {
    tasks_.drop(lost, database_now(now));
    after_drop(now);
  }
  disown();
  // The others see at once whether it accepts shards.
  const auto self = std::ranges::lower_bound(view_.members, id_, {}, &MemberRow::id);
  const bool is_there = self != view_.members.end() && self->id == id_;
  if (is_there && self->accepts != accepts(now)) looks_soon_ = true;
}

// Which list counts?
void Member::heed_list() {
  const bool is_refused = applies_ && version_ < view_.version;
  if (view_sent_ < called_ && !is_refused) return;
  if (view_.list == print_ && view_.generation > 0) {
    applies_ = false;
    applied_at_.reset();
    // Another list may have counted meanwhile.
    if (std::exchange(superseded_, false) || generation_ != view_.generation) initialized_ = false;
    generation_ = view_.generation;
    if (!std::exchange(initialized_, true)) effects_.emplace_back(Initialized{generation_});
    return;
  }
  if (applies_ && !is_refused && (!applied_at_ || *applied_at_ == view_.generation)) return;
  applies_ = false;
  generation_ = view_.generation;
  initialized_ = true;
  if (!std::exchange(superseded_, true)) effects_.emplace_back(Superseded{view_.generation});
}

// A run that is recorded under the member's name and that it does not have never began, because the
// answer to its start was lost, or has ended since. Whoever decides for the task finds out which by
// the fence (N4).
void Member::disown() {
  for (const RunKey& run : view_.runs) {
    if (!tasks_.is_current(run)) runs_.try_emplace(run, Run{.result = RunResult::interrupted});
  }
  view_.runs.clear();
}

// A run is recorded under the member's name until its end is. If the database does not show one
// whose start it had acknowledged before it was asked, it has forgotten that.
bool Member::misses_runs(const View& view, BootTime sent) const {
  return std::ranges::any_of(runs_, [&](const auto& entry) {
    const auto& [key, run] = entry;
    return !run.result && run.since < sent && !contains(view.runs, key);
  });
}

// A standby has taken over that lacks acknowledged transactions (N10). What the member knows and
// what the database knows do not fit together any more.
void Member::forget(BootTime now) {
  effects_.emplace_back(Forgotten{});
  die(now);
}

// Everything that it runs or knows belongs to a member that is no more.
void Member::die(BootTime now) {
  // If it is about to leave, it has left: the answer to that comes later.
  if (phase_ == Phase::leaving) return finish_stop({.all_recorded = work_ == Work::leave});
  effects_.emplace_back(EndRuns{});
  lease_.end();
  lapsed_ = true;
  effects_.emplace_back(ExtendLease{lease_.until()});
  watch_.restart();
  runs_.clear();
  decided_ = {};
  posted_.clear();
  tasks_ = Tasks{options_.calendar, options_.max_concurrent};
  view_ = {};
  // An answer to the member that it was is not for the one that it becomes.
  for (Link& link : links_) {
    if (link.waits()) link.break_off(now);
  }
  work_ = Work::none;
  phase_ = Phase::joining;
  initialized_ = false;
  superseded_ = false;
}

void Member::finish_stop(Stopped how) {
  effects_.emplace_back(EndRuns{});
  effects_.emplace_back(how);
  phase_ = Phase::idle;
  quiescent_since_.reset();
  initialized_ = false;
  lease_.end();
  watch_.restart();
  runs_.clear();
  decided_ = {};
  posted_.clear();
  work_ = Work::none;
  links_ = {};  // nothing that is still on its way concerns it
  time_ = {};
  view_ = {};
  tasks_ = Tasks{options_.calendar, options_.max_concurrent};
  id_ = after(id_);
}

// Requests.

std::optional<Request> Member::next_request(BootTime now) {
  if (phase_ == Phase::leaving) {
    if (auto request = request_of_leaving()) return request;
  } else {
    if (applies_ && !superseded_) {
      work_ = Work::apply;
      applied_at_ = view_.generation;
      return Apply{id_, view_.generation, print_, version_, list_};
    }
    if (const auto dead = watch_.expired(now); dead && may_declare()) {
      work_ = Work::declare;
      return Declare{id_, dead->member, dead->renewals};
    }
    if (accepts(now)) {
      if (auto request = take_share()) return request;
    }
  }
  if (auto request = post_ends()) return request;
  if (phase_ == Phase::leaving) {
    if (!runs_.empty()) return std::nullopt;
    work_ = Work::leave;
    return Leave{id_};
  }
  return decide(now);
}

std::optional<Request> Member::request_of_leaving() {
  if (tasks_.shards().empty()) return std::nullopt;
  work_ = Work::release;
  Release release{id_, {}};
  for (const auto& [id, shard] : tasks_.shards()) release.shards.push_back({id, shard.epoch});
  return release;
}

std::optional<Request> Member::take_share() {
  Take take{id_, generation_, {}};
  for (const ShardId id : share_) {
    if (!tasks_.holds(id)) take.shards.push_back({id, view_.shards[id].epoch});
  }
  if (take.shards.empty()) return std::nullopt;
  work_ = Work::take;
  return take;
}

// Whoever has declared a member dead takes its shards and those of its runs, because it is the
// first to know. If they belong to the share of another, that one takes them when it looks (N6).
void Member::share_shards_of_dead(const std::vector<ShardId>& orphaned) {
  for (ShardId id = 0; id < view_.shards.size(); ++id) {
    const bool is_left = view_.shards[id].holder == MemberId::none || contains(orphaned, id);
    if (is_left && !contains(share_, id)) share_.push_back(id);
  }
}

// The ends of runs whose tasks others decide for.
std::optional<Request> Member::post_ends() {
  Post post{id_, {}};
  for (const auto& [key, run] : runs_) {
    if (!run.result || tasks_.holds(shard_of(key.task, view_.shards.size()))) continue;
    post.mail.push_back({.run = key, .result = *run.result});
    posted_.push_back(key);
  }
  if (post.mail.empty()) return std::nullopt;
  work_ = Work::post;
  return post;
}

std::optional<Request> Member::decide(BootTime now) {
  if (tasks_.shards().empty()) return std::nullopt;
  const Instant at = database_now(now);
  Tasks::Decided decided;
  // Runs of this member. One that is not current is recorded already.
  std::erase_if(runs_, [&](const auto& run) {
    return run.second.result.has_value() && !tasks_.is_current(run.first);
  });
  for (const auto& [key, run] : runs_) {
    if (!run.result) continue;
    // It may have been posted while another member decided, and disowned since. The post counts.
    const auto posted = end_of(key, id_, view_.members, view_.mail);
    tasks_.end(key, posted.value_or(RunEnd{*run.result}), at, decided);
  }
  // Runs of others, and of this member before it was connected anew.
  const auto elsewhere = tasks_.elsewhere();
  for (const auto& [name, running] : elsewhere) {
    if (runs_.contains(running.run)) continue;
    const MemberId runner = running.runner == id_ ? MemberId::none : running.runner;
    const auto end = end_of(running.run, runner, view_.members, view_.mail);
    if (end) tasks_.end(running.run, *end, at, decided);
  }
  for (const Mail& mail : view_.mail) {
    const ShardId shard = shard_of(mail.run.task, view_.shards.size());
    if (tasks_.holds(shard)) tasks_.discard(mail.run, shard, decided);
  }
  view_.mail.clear();
  tasks_.start(id_, at, decided);
  if (decided.writes.empty()) return std::nullopt;

  Commit commit{id_, {}};
  for (const auto& [id, shard] : decided.writes) commit.shards.push_back(shard);
  decided_ = std::move(decided);
  work_ = Work::commit;
  return commit;
}

void Member::committed(const Committed& answer, BootTime now) {
  failing_since_.reset();
  const Tasks::Decided decided = std::exchange(decided_, {});
  const auto is_refused = [&](const std::string& task) {
    return contains(answer.refused, shard_of(task, view_.shards.size()));
  };
  for (const auto& [run, end] : decided.ends) {
    if (!is_refused(run.task)) runs_.erase(run);
  }
  for (const Start& start : decided.starts) {
    if (is_refused(start.name)) continue;
    const RunKey run{start.name, start.fence};
    runs_.emplace(run, Run{.since = now});
    effects_.emplace_back(StartRun{run, start.reason, start.at});
  }
  tasks_.recorded(decided, answer);
  after_drop(now);
}

void Member::taken(Taken answer, BootTime now) {
  if (answer.shards.empty()) return;
  tasks_.take(view_.shards.size(), answer.shards, std::move(answer.records), database_now(now));
}

// The outcome of the request on the work channel is unknown. The shards are taken anew, under new
// epochs, so that it has no effect later, and what they show is certain (N4).
void Member::abandon(BootTime now) {
  const Work work = std::exchange(work_, Work::none);
  posted_.clear();
  if (work != Work::apply) applied_at_.reset();
  if (phase_ == Phase::idle || phase_ == Phase::joining) return;
  tasks_.abandon(std::exchange(decided_, {}), database_now(now));
  after_drop(now);
}

// Ended runs of tasks that were let go occupy no place any more.
void Member::after_drop(BootTime now) {
  for (const auto& [key, run] : runs_) {
    if (run.result) tasks_.leave(key, database_now(now));
  }
}

Instant Member::database_now(BootTime now) const {
  return time_.at(now).value_or(Instant{});
}

BootTime Member::next_wake() const {
  if (phase_ == Phase::idle) return BootTime::max();
  const Link& renewals = links_[0];
  const Link& work = links_[1];
  BootTime next = std::min(renewals.next_wake(patience(Channel::renewals)),
                           work.next_wake(patience(Channel::work)));
  if (phase_ != Phase::joining && renewals.may_send()) next = std::min(next, next_renewal_);
  if (quiescent_since_) next = std::min(next, *quiescent_since_ + leave_patience);
  if (!lapsed_) {
    next = std::min(next, lease_.until());
    if (work.may_send() && phase_ == Phase::joined) {
      const BootTime pulse = time_.when(tasks_.next_wake());
      const BootTime due = may_declare() ? std::min(watch_.next(), pulse) : pulse;
      next = std::min(next, std::max(paused_until_, due));
    }
  }
  return next;
}

}  // namespace dutiful::cluster
