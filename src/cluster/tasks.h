// The tasks of the shards that a member holds, decided by one core.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/database.h"
#include "cluster/records.h"
#include "core/core.h"

namespace dutiful::cluster {

// Runs belong to the member, not to its shards: a run goes on when the shard of its task is let go,
// and counts for max_concurrent until it ends (RULES X1, N7).
class Tasks {
 public:
  Tasks(const Calendar& calendar, std::size_t max_concurrent);

  [[nodiscard]] const std::map<ShardId, Taken::Shard>& shards() const { return shards_; }
  [[nodiscard]] bool holds(ShardId shard) const { return shards_.contains(shard); }
  [[nodiscard]] std::size_t running() const { return core_.running(); }
  [[nodiscard]] Instant next_wake() const { return core_.next_wake(); }

  // Adds shards with the records of their tasks. The cluster has `total` shards.
  void take(std::size_t total,
            const std::vector<Taken::Shard>& shards,
            std::vector<Record> records,
            Instant now);
  // Lets shards go. Requires that nothing is decided and not recorded, except in these shards.
  void drop(const std::vector<ShardId>& shards, Instant now);
  void drop_all(Instant now);

  // A recorded run that is not here, or is not known here.
  struct Running {
    RunKey run;
    ShardId shard = 0;
    MemberId runner{};
  };
  // By the name of the task, of tasks of these shards.
  [[nodiscard]] const std::map<std::string, Running>& elsewhere() const { return elsewhere_; }
  // Whether this is the run that the task of one of these shards is in.
  [[nodiscard]] bool is_current(const RunKey& run) const;

  // What is decided, to be recorded in one transaction.
  struct Decided {
    std::vector<Start> starts;
    std::map<RunKey, RunEnd> ends;
    std::vector<RunKey> read;  // mail that is settled
    std::map<ShardId, Commit::Shard> writes;
  };
  // The run has ended. Requires that it is current.
  void end(const RunKey& run, RunEnd end, Instant now, Decided& decided);
  // Starts what is owed a run, on this member.
  void start(MemberId self, Instant now, Decided& decided);
  // The mail about a run is not needed any more.
  void discard(const RunKey& mail, ShardId shard, Decided& decided);

  // The decision is recorded, except in the shards that are refused, which are dropped.
  void recorded(const Decided& decided, const Committed& committed);
  // The decision is not recorded, or may not be: every shard is dropped.
  void abandon(const Decided& decided, Instant now);

  // A run has ended here. If its task is in none of the shards any more, it counts no longer for
  // max_concurrent; otherwise end() sees to that.
  void leave(const RunKey& run, Instant now);

 private:
  friend class Digest;

  struct Task {
    TaskId id = 0;
    ShardId shard = 0;
  };
  void rebuild(std::vector<Record> loaded, Instant now);
  [[nodiscard]] Commit::Shard& write(ShardId shard, Decided& decided);
  void write(const std::string& name, const Task& task, MemberId runner, Decided& decided);

  Core core_;
  std::size_t total_ = 1;  // shards of the cluster
  std::map<ShardId, Taken::Shard> shards_;
  std::unordered_map<std::string, Task> tasks_;
  std::map<std::string, Running> elsewhere_;
  // Tasks that were removed while they ran, here or elsewhere: their records go when the runs end
  // (N8).
  std::map<RunKey, ShardId> removed_;
  std::map<RunKey, TaskId> here_;  // the runs on this member, whoever decides for their tasks
};

}  // namespace dutiful::cluster
