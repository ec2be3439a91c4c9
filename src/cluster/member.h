// A member of a cluster as a state machine: when it may decide for which tasks, and what it
// records.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/database_time.h"
#include "cluster/effect.h"
#include "cluster/lease.h"
#include "cluster/link.h"
#include "cluster/tasks.h"
#include "cluster/watch.h"

namespace dutiful::cluster {

struct MemberOptions {
  Calendar calendar;
  std::size_t max_concurrent = 0;  // runs at one time on this member (RULES X1); 0: no bound
  Duration lease = lease_default;
  std::string settings{};  // what belongs to the list besides its tasks: zone and policies (N1)
};

// Without I/O, threads or a clock: each input carries the time by the host's boot clock, and what
// is to be done is left in take_effects(). A copy is another member in the same state.
//
// Two things keep runs apart. The *epoch* of a shard guards decisions: whatever a member records
// about a task is refused once another has taken the shard, so a shard may be taken at any time.
// The *lease* guards runs: a run goes on when its shard is taken, and is restarted only after its
// member was declared dead, when its lease has ended and its runs with it.
class Member {
 public:
  // `first` identifies the member. When it has to join again, it takes the number after it.
  Member(MemberOptions options, MemberId first);

  // Joins the cluster with a valid list. If another list counts, this one takes its place, unless
  // its version is lower (N8).
  void initialize(std::vector<TaskConfig> list, BootTime now, ListVersion version = 0);
  // Hands the tasks over, waits for the runs, and leaves.
  void stop(BootTime now);

  void connected(Channel channel, BootTime now);
  void disconnected(Channel channel, BootTime now);
  void answered(Channel channel, Answer answer, BootTime now);
  // Something has changed that a look at the database would show.
  void notified(BootTime now);
  // A run that was handed out has ended.
  void ended(const RunKey& run, RunResult result, BootTime now);
  // Time has passed.
  void wake(BootTime now);

  // When wake() will have something to do, if nothing else happens.
  [[nodiscard]] BootTime next_wake() const;
  [[nodiscard]] Effects take_effects() { return std::exchange(effects_, {}); }

  [[nodiscard]] MemberId id() const { return id_; }
  [[nodiscard]] const Lease& lease() const { return lease_; }
  [[nodiscard]] const Tasks& tasks() const { return tasks_; }
  [[nodiscard]] std::optional<Instant> database_time(BootTime now) const { return time_.at(now); }
  [[nodiscard]] bool is_superseded() const { return superseded_; }

 private:
  friend class Digest;

  enum class Phase : std::uint8_t { idle, joining, joined, leaving };
  // The request that is on its way on the work channel.
  enum class Work : std::uint8_t { none, declare, take, release, commit, post, apply, leave };

  void drive(BootTime now);
  void drive_renewals(BootTime now);
  void drive_work(BootTime now);
  [[nodiscard]] bool reconnect(Channel channel, BootTime now);
  void send(Channel channel, Request request, BootTime now);
  void break_off(Channel channel, BootTime now);

  // What the database shows.
  void answered_renewal(Answer& answer, BootTime now);
  void answered_work(Answer& answer, BootTime now);
  void look(View view, Channel channel, BootTime sent, BootTime now);
  void heed_view(BootTime now);
  void heed_list();
  void disown();
  [[nodiscard]] bool misses_runs(const View& view, BootTime sent) const;
  void forget(BootTime now);
  void die(BootTime now);

  // What to ask next; none if there is nothing to ask.
  [[nodiscard]] std::optional<Request> next_request(BootTime now);
  [[nodiscard]] std::optional<Request> request_of_leaving();
  [[nodiscard]] std::optional<Request> take_share();
  void share_shards_of_dead(const std::vector<ShardId>& orphaned);
  [[nodiscard]] std::optional<Request> post_ends();
  [[nodiscard]] std::optional<Request> decide(BootTime now);
  void committed(const Committed& answer, BootTime now);
  void taken(Taken answer, BootTime now);
  void abandon(BootTime now);
  void after_drop(BootTime now);
  void finish_stop(Stopped how);

  [[nodiscard]] Link& link(Channel channel) { return links_[static_cast<std::size_t>(channel)]; }
  [[nodiscard]] Duration patience(Channel channel) const;
  [[nodiscard]] bool accepts(BootTime now) const;
  [[nodiscard]] bool others_accept() const;
  // Only a member of the list that counts declares others dead, because it is to take their shards.
  [[nodiscard]] bool may_declare() const { return initialized_ && !superseded_; }
  [[nodiscard]] Instant database_now(BootTime now) const;

  MemberOptions options_;
  MemberId id_;
  Phase phase_ = Phase::idle;
  Effects effects_;

  // The list.
  std::vector<TaskConfig> list_;  // by name
  ListVersion version_ = 0;
  ListPrint print_ = 0;
  BootTime called_ = BootTime::min();  // initialize(): only what the database shows since counts
  Generation generation_ = 0;          // of its list, or of the list that superseded it
  bool initialized_ = false;
  bool superseded_ = false;
  bool applies_ = false;                  // its list is to count
  std::optional<Generation> applied_at_;  // an Apply at this generation may have happened

  // Time and the others.
  Lease lease_;
  bool lapsed_ = false;
  DatabaseTime time_;
  Watch watch_;
  View view_;
  BootTime view_sent_ = BootTime::min();    // when view_ was asked for
  std::vector<ShardId> share_;              // of the shards in view_
  std::uint64_t renewals_ = 0;              // the newest number that was acknowledged
  std::optional<std::uint64_t> work_view_;  // the renewals in the newest view of the work channel
  bool looks_soon_ = false;                 // notified: renew at once
  BootTime next_renewal_ = BootTime::min();
  std::array<Link, 2> links_;  // by channel

  // The tasks.
  Tasks tasks_;
  struct Run {
    BootTime since{};                   // its start was acknowledged
    std::optional<RunResult> result{};  // once it has ended
  };
  // Runs that were handed out, until their results are recorded or posted.
  std::map<RunKey, Run> runs_;
  Work work_ = Work::none;
  Tasks::Decided decided_;                     // while a Commit is on its way
  std::vector<RunKey> posted_;                 // while a Post is on its way
  BootTime paused_until_ = BootTime::min();    // after a failure
  std::optional<BootTime> failing_since_;      // no commit has succeeded since
  BootTime declines_until_ = BootTime::min();  // it cannot commit, so it accepts no shards (N12)
  std::optional<BootTime> quiescent_since_;    // while it leaves, and nothing runs any more
};

}  // namespace dutiful::cluster
