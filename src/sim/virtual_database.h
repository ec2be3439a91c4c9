// The database of a simulated cluster.
#pragma once

#include <map>
#include <vector>

#include <dutiful/calendar.h>

#include "cluster/database.h"

namespace dutiful {

// Sees what a transaction makes durable, when it does.
class DatabaseObserver {
 public:
  virtual ~DatabaseObserver() = default;

  virtual void list_applied(cluster::MemberId member, const std::vector<TaskConfig>& list) = 0;
  virtual void run_started(cluster::MemberId member, const cluster::RunKey& run) = 0;
  virtual void run_ended(const cluster::RunKey& run, cluster::RunResult result) = 0;
  virtual void member_left(cluster::MemberId member) = 0;
  virtual void member_declared_dead(cluster::MemberId member) = 0;
};

// Each request is executed at one instant, as PostgreSQL would: under locks that make it wait for
// other transactions, not see half of them. A copy is the same database at that instant, from which
// it can go on.
class VirtualDatabase {
 public:
  VirtualDatabase(std::size_t shards, Calendar calendar, Override override);

  [[nodiscard]] cluster::Answer execute(const cluster::Request& request,
                                        Instant clock,
                                        DatabaseObserver& observer);

  // Whether what has changed since the last call is worth a notification to all members.
  [[nodiscard]] bool take_notification() { return std::exchange(notifies_, false); }

  [[nodiscard]] const std::vector<cluster::ShardRow>& shards() const { return shards_; }
  [[nodiscard]] const std::map<cluster::MemberId, cluster::MemberRow>& members() const {
    return members_;
  }
  [[nodiscard]] cluster::Generation generation() const { return generation_; }
  // Of the newest run, by shard.
  [[nodiscard]] const std::vector<std::uint64_t>& fences() const { return fences_; }
  [[nodiscard]] const std::map<cluster::RunKey, cluster::Mail>& mail() const { return mail_; }
  [[nodiscard]] cluster::ListPrint list() const { return print_; }
  [[nodiscard]] cluster::ListVersion version() const { return version_; }
  [[nodiscard]] const std::map<std::string, cluster::Record>& records() const { return records_; }

 private:
  using MemberId = cluster::MemberId;

  struct Execution {
    Instant clock;
    DatabaseObserver& observer;
  };
  cluster::Answer run(const cluster::Join& join, const Execution& execution);
  cluster::Answer run(const cluster::Renew& renew, const Execution& execution);
  cluster::Answer run(const cluster::Declare& declare, const Execution& execution);
  cluster::Answer run(const cluster::Take& take, const Execution& execution);
  cluster::Answer run(const cluster::Release& release, const Execution& execution);
  cluster::Answer run(const cluster::Commit& commit, const Execution& execution);
  cluster::Answer run(const cluster::Post& post, const Execution& execution);
  cluster::Answer run(const cluster::Apply& apply, const Execution& execution);
  cluster::Answer run(const cluster::Leave& leave, const Execution& execution);

  [[nodiscard]] cluster::View view(MemberId member, Instant clock) const;
  void remove(MemberId member);
  void free_shards(MemberId member);
  [[nodiscard]] std::vector<cluster::Mail> all_mail() const;
  [[nodiscard]] std::vector<cluster::MemberRow> all_members() const;

  Calendar calendar_;
  Override override_;
  cluster::Generation generation_ = 0;
  cluster::ListPrint print_ = 0;
  cluster::ListVersion version_ = 0;
  std::map<MemberId, cluster::MemberRow> members_;
  std::vector<cluster::ShardRow> shards_;
  std::vector<std::uint64_t> fences_;  // by shard
  std::map<std::string, cluster::Record> records_;
  std::map<cluster::RunKey, cluster::Mail> mail_;
  bool notifies_ = false;
};

}  // namespace dutiful
