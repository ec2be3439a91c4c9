// Judges a simulated cluster by what really happened in it.
#pragma once

#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/cluster_host.h"
#include "sim/cluster_scenario.h"
#include "sim/cluster_world.h"
#include "sim/virtual_database.h"
#include "theory/monitor.h"

namespace dutiful {

// Passes what becomes durable to the theory, in the order in which it does. Besides, it checks what
// no trace shows: which runs really run, and who holds the shards.
class ClusterJudge : public DatabaseObserver {
 public:
  // The hosts and the database are those of the world, and outlive the judge.
  ClusterJudge(const ClusterScenario& scenario,
               const std::vector<ClusterHost>& hosts,
               const VirtualDatabase& database,
               std::ostream* log);

  // It is now that late, and the database's clock shows another time.
  void pass_time(Instant now, Instant clock) {
    now_ = now;
    clock_ = clock;
    if (now_ >= next_takeover_) check_takeovers();
  }

  // Something goes wrong for this long. Until a lease and a second later, less can be expected, and
  // if it has an aftermath, the cluster is not calm until then.
  void excuse(Duration length, Duration aftermath = {});
  // Nobody is there who could do anything, for this long.
  void nobody_is_able(Duration length);
  // The database's clock is about to be set forward, or back if the duration is negative.
  void clock_steps(Duration length);
  // The database has lost its last transactions, and cannot be reached for this long.
  void transactions_lost(Duration down);
  void notification_lost() { notification_lost_at_ = now_; }
  // Time does not pass any more.
  void time_stands_still();

  // What the members do, besides what the database records.
  void process_starts();
  void process_dies(const ClusterHost& host);
  void initialize_called(std::size_t host);
  void initialized(std::size_t host, cluster::Generation generation);
  void stop_called(cluster::MemberId member);
  void stop_returned(cluster::MemberId member, cluster::Stopped how);
  // What the hosts do: a run really begins, and really ends with a result.
  void run_begins(std::size_t host, const cluster::RunKey& run);
  void run_ends(const cluster::RunKey& run) { ended_at_[run] = judged_now(); }

  // The world is over.
  [[nodiscard]] ClusterVerdict conclude();

 private:
  void list_applied(cluster::MemberId member, const std::vector<TaskConfig>& list) override;
  void run_started(cluster::MemberId member, const cluster::RunKey& run) override;
  void run_ended(const cluster::RunKey& run, cluster::RunResult result) override;
  void member_left(cluster::MemberId member) override;
  void member_declared_dead(cluster::MemberId member) override;

  // The theory knows no clock that goes back.
  [[nodiscard]] Instant judged_now() { return judged_ = std::max(judged_, clock_); }
  void tell(const TraceEvent& event, cluster::MemberId member = cluster::MemberId::none);
  void violate(std::string_view axiom, std::string what);
  void violated(const theory::Violation& violation);
  void withhold(Duration length);
  void registered(cluster::MemberId member, const std::vector<TaskConfig>& list);

  // What a member held and ran that died or stops. Others must have taken it over by then.
  struct Takeover {
    Instant by;
    bool by_notification = false;  // later, if one of them is lost
    Instant begin{};
    std::size_t disturbances = 0;
    cluster::MemberId from{};
    std::vector<cluster::ShardId> shards{};
    std::vector<cluster::RunKey> runs{};
  };
  void expect_takeover(Takeover takeover);
  void check_takeovers();
  void check(const Takeover& takeover);
  void check_runs();
  void check_shards();

  const ClusterScenario& scenario_;
  const std::vector<ClusterHost>& hosts_;
  const VirtualDatabase& database_;
  std::ostream* log_;
  Instant now_;
  Instant clock_;
  Instant judged_ = Instant::min();
  Instant unwell_until_ = Instant::min();
  Instant clocks_differ_until_ = Instant::min();   // the database's clock was set back
  Instant records_differ_until_ = Instant::min();  // the database has lost transactions
  Instant runs_differ_until_ = Instant::min();     // the same, and members may not know it

  Instant disturbed_until_ = Instant::min();
  std::size_t disturbances_ = 0;
  Instant notification_lost_at_ = Instant::min();
  std::vector<Takeover> takeovers_;  // that are not over
  Instant next_takeover_ = Instant::max();

  std::vector<cluster::Generation> called_at_;  // by host, of its newest initialize()
  cluster::ListVersion version_ = 0;
  std::map<cluster::RunKey, cluster::MemberId> recorded_runs_;  // that the theory takes for running
  std::map<cluster::RunKey, Instant> ended_at_;                 // ends that are not recorded
  std::set<cluster::MemberId> gave_up_;  // stops that returned before the member had left

  ClusterVerdict verdict_;
  theory::Monitor monitor_;
};

}  // namespace dutiful
