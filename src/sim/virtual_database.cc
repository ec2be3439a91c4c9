#include "sim/virtual_database.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cluster/records.h"
#include "core/ends.h"

namespace dutiful {

using namespace cluster;

VirtualDatabase::VirtualDatabase(std::size_t shards, Calendar calendar, Override override)
    : calendar_(std::move(calendar)), override_(override), shards_(shards), fences_(shards) {}

Answer VirtualDatabase::execute(const Request& request, Instant clock, DatabaseObserver& observer) {
  const Execution execution{clock, observer};
  return std::visit([&](const auto& asked) { return this->run(asked, execution); }, request);
}

Answer VirtualDatabase::run(const Join& join, const Execution& execution) {
  members_[join.member] = {.id = join.member, .lease = join.lease, .accepts = false};
  return Looked{view(join.member, execution.clock)};
}

Answer VirtualDatabase::run(const Renew& renew, const Execution& execution) {
  const auto row = members_.find(renew.member);
  if (row == members_.end()) return Dead{};
  ++row->second.renewals;
  if (row->second.accepts != renew.accepts) notifies_ = true;
  row->second.accepts = renew.accepts;
  return Looked{view(renew.member, execution.clock)};
}

Answer VirtualDatabase::run(const Declare& declare, const Execution& execution) {
  std::set<ShardId> orphaned;
  const auto dead = members_.find(declare.dead);
  if (dead != members_.end() && dead->second.renewals == declare.renewals) {
    for (const auto& [name, record] : records_) {
      if (record.runner == declare.dead) orphaned.insert(shard_of(name, shards_.size()));
    }
    remove(declare.dead);
    execution.observer.member_declared_dead(declare.dead);
  }
  if (!members_.contains(declare.member)) return Dead{};
  return Looked{view(declare.member, execution.clock), {orphaned.begin(), orphaned.end()}};
}

Answer VirtualDatabase::run(const Take& take, const Execution& execution) {
  if (!members_.contains(take.member)) return Dead{};
  if (take.generation != generation_) return Looked{view(take.member, execution.clock)};
  Taken taken;
  for (const Take::Shard& wanted : take.shards) {
    ShardRow& shard = shards_[wanted.id];
    if (shard.epoch != wanted.epoch) continue;
    shard = {take.member, shard.epoch + 1};
    taken.shards.push_back({wanted.id, shard.epoch, fences_[wanted.id]});
  }
  for (const auto& [name, record] : records_) {
    const ShardId shard = shard_of(name, shards_.size());
    if (std::ranges::find(taken.shards, shard, &Taken::Shard::id) != taken.shards.end()) {
      taken.records.push_back(record);
    }
  }
  taken.view = view(take.member, execution.clock);
  return taken;
}

Answer VirtualDatabase::run(const Release& release, const Execution& execution) {
  for (const Take::Shard& freed : release.shards) {
    ShardRow& shard = shards_[freed.id];
    if (shard.epoch == freed.epoch) shard = {MemberId::none, shard.epoch + 1};
  }
  notifies_ = true;
  return Done{execution.clock};
}

Answer VirtualDatabase::run(const Commit& commit, const Execution& execution) {
  Committed committed{.clock = execution.clock};
  for (const Commit::Shard& written : commit.shards) {
    if (shards_[written.id].epoch != written.epoch) {
      committed.refused.push_back(written.id);
      continue;
    }
    fences_[written.id] = written.fence;
    for (const Commit::Task& task : written.tasks) {
      const auto place = records_.find(task.run.task);
      if (place == records_.end()) continue;
      // A posted end was durable before.
      if (task.ended && !mail_.contains(task.run)) {
        execution.observer.run_ended(task.run, *task.ended);
      }
      if (task.forget) {
        records_.erase(place);
      } else {
        const bool starts = task.progress.state == TaskState::running &&
                            task.progress.fence > place->second.progress.fence;
        place->second.progress = task.progress;
        if (starts) {
          count_start_from(place->second.progress, execution.clock);
          execution.observer.run_started(commit.member, task.run);
        }
        if (task.ended) {
          count_end_from(place->second.progress,
                         task.posted.value_or(execution.clock),
                         place->second.config.retry_delay);
        }
        place->second.runner = task.runner;
        if (task.account) place->second.account = *task.account;
      }
    }
    for (const RunKey& read : written.read) mail_.erase(read);
  }
  return committed;
}

Answer VirtualDatabase::run(const Post& post, const Execution& execution) {
  if (!members_.contains(post.member)) return Dead{};
  for (const Mail& mail : post.mail) {
    const Mail posted{mail.run, mail.result, execution.clock};
    if (!mail_.emplace(mail.run, posted).second) continue;
    const auto place = records_.find(mail.run.task);
    if (place == records_.end()) continue;
    const TaskProgress& progress = place->second.progress;
    if (progress.state == TaskState::running && progress.fence == mail.run.fence) {
      execution.observer.run_ended(mail.run, mail.result);
    }
  }
  notifies_ = true;
  return Done{execution.clock};
}

Answer VirtualDatabase::run(const Apply& apply, const Execution& execution) {
  if (!members_.contains(apply.member)) return Dead{};
  if (apply.generation != generation_ || (generation_ > 0 && apply.print == print_)) {
    return Looked{view(apply.member, execution.clock)};
  }
  std::vector<Record> before;
  for (const auto& [name, record] : records_) before.push_back(record);
  auto records = replace_list(apply.list,
                              std::move(before),
                              all_members(),
                              all_mail(),
                              execution.clock,
                              calendar_,
                              override_);
  // Mail about runs that go on is for whoever decides for their tasks. There is none: mail ends a
  // run.
  mail_.clear();
  records_.clear();
  for (Record& record : records) {
    std::string name = record.config.name;
    records_.emplace(std::move(name), std::move(record));
  }
  ++generation_;
  print_ = apply.print;
  version_ = apply.version;
  notifies_ = true;
  execution.observer.list_applied(apply.member, apply.list);
  Taken taken;
  for (ShardId id = 0; id < shards_.size(); ++id) {
    shards_[id] = {apply.member, shards_[id].epoch + 1};
    taken.shards.push_back({id, shards_[id].epoch, fences_[id]});
  }
  for (const auto& [name, record] : records_) taken.records.push_back(record);
  taken.view = view(apply.member, execution.clock);
  return taken;
}

Answer VirtualDatabase::run(const Leave& leave, const Execution& execution) {
  free_shards(leave.member);
  View seen = view(leave.member, execution.clock);
  if (!seen.runs.empty()) return Looked{std::move(seen)};
  members_.erase(leave.member);
  execution.observer.member_left(leave.member);
  return Done{execution.clock};
}

void VirtualDatabase::remove(MemberId member) {
  members_.erase(member);
  free_shards(member);
}

void VirtualDatabase::free_shards(MemberId member) {
  for (ShardRow& shard : shards_) {
    if (shard.holder == member) shard = {MemberId::none, shard.epoch + 1};
  }
  notifies_ = true;
}

View VirtualDatabase::view(MemberId member, Instant clock) const {
  View view{.clock = clock,
            .generation = generation_,
            .list = print_,
            .version = version_,
            .shards = shards_};
  view.members = all_members();
  if (const auto row = members_.find(member); row != members_.end()) {
    view.renewals = row->second.renewals;
  }
  for (const auto& [run, mail] : mail_) {
    if (shards_[shard_of(run.task, shards_.size())].holder == member) view.mail.push_back(mail);
  }
  for (const auto& [name, record] : records_) {
    if (record.runner != member || record.progress.state != TaskState::running) continue;
    RunKey run{name, record.progress.fence};
    if (!mail_.contains(run)) view.runs.push_back(std::move(run));
  }
  return view;
}

std::vector<Mail> VirtualDatabase::all_mail() const {
  std::vector<Mail> all;
  for (const auto& [run, mail] : mail_) all.push_back(mail);
  return all;
}

std::vector<MemberRow> VirtualDatabase::all_members() const {
  std::vector<MemberRow> all;
  all.reserve(members_.size());
  for (const auto& [id, row] : members_) all.push_back(row);
  return all;
}

}  // namespace dutiful
