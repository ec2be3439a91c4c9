#include "cluster/digest.h"

#include "cluster/member.h"

namespace dutiful::cluster {
namespace {

constexpr std::chrono::hours far{1};
// A member knows the database's clock this exactly; that it knows it a little better or worse makes
// no difference.
constexpr Duration lag_max{10};

template <typename T>
std::uint64_t number_of(T value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

void Digest::begin_again() {
  std::ranges::sort(renewals_);
  renewals_.erase(std::unique(renewals_.begin(), renewals_.end()), renewals_.end());
  is_ordered_ = true;
  value_ = 0;
}

void Digest::add_renewals(MemberId member, std::uint64_t renewals) {
  const std::pair entry{member, renewals};
  if (!is_ordered_) return renewals_.push_back(entry);
  const auto place = std::ranges::lower_bound(renewals_, entry);
  const auto newer = std::ranges::upper_bound(renewals_, std::pair{member, ~std::uint64_t{0}});
  add(number_of(newer - place));
}

// Instant::min() and max() are far from everything, so they are compared before they are
// subtracted.
void Digest::add_deadline(Instant at) {
  const Instant last = time_.now + far;
  add(at <= time_.now ? 0U : number_of((std::min(at, last) - time_.now).count()));
}

void Digest::add_age(Instant since) {
  const Instant first = time_.now - time_.age_max;
  add(number_of((time_.now - std::max(since, first)).count()));
}

void Digest::add(std::string_view text) {
  add(std::hash<std::string_view>{}(text));
}

void Digest::add(const RunKey& run) {
  add(run.task);
  add(run.fence);
}

void Digest::add(const TaskProgress& progress) {
  add(number_of(progress.state));
  add((progress.boot_pending ? 4U : 0U) + (progress.orphan_pending ? 2U : 0U) +
      (progress.served_until >= time_.pulse ? 1U : 0U));
  add(progress.fence);
  if (progress.retry_at == no_instant) return add(1U);
  add_deadline(progress.retry_at);
}

void Digest::add(const Record& record) {
  add(record.config.name);
  add(record.config.cron);
  add(number_of(record.config.retry_delay.count()));
  add(record.progress);
  add(record.runner);
  add(record.registered ? 1U : 0U);
}

void Digest::add(const Mail& mail) {
  add(mail.run);
  add(number_of(mail.result));
  add_age(mail.at);
}

void Digest::add(const ShardRow& shard) {
  add(shard.holder);
  add(shard.epoch);
}

void Digest::add(const MemberRow& member) {
  add(member.id);
  add_renewals(member.id, member.renewals);
  add(member.accepts ? 1U : 0U);
}

void Digest::add(const View& view, MemberId asker) {
  add_age(view.clock);
  add(view.generation);
  add(view.list);
  add(view.version);
  add_renewals(asker, view.renewals);
  add_all(view.members);
  add_all(view.shards);
  add_all(view.mail);
  add_all(view.runs);
}

void Digest::add(const Take::Shard& shard) {
  add(shard.id);
  add(shard.epoch);
}

void Digest::add(const Taken::Shard& shard) {
  add(shard.id);
  add(shard.epoch);
  add(shard.fence);
}

void Digest::add(const Commit::Shard& shard) {
  add(shard.id);
  add(shard.epoch);
  add(shard.fence);
  for (const Commit::Task& task : shard.tasks) {
    add(task.run);
    add(task.progress);
    add(task.runner);
    add(task.ended ? 1 + number_of(*task.ended) : 0);
    if (task.posted) add_age(*task.posted);
    add(task.forget ? 1U : 0U);
  }
  add_all(shard.read);
}

void Digest::add(const Request& request) {
  add(request.index());
  const auto add_request = [this](const auto& asked) {
    using Asked = std::remove_cvref_t<decltype(asked)>;
    add(asked.member);
    if constexpr (std::is_same_v<Asked, Renew>) {
      add(asked.accepts ? 1U : 0U);
    } else if constexpr (std::is_same_v<Asked, Declare>) {
      add(asked.dead);
      add_renewals(asked.dead, asked.renewals);
    } else if constexpr (std::is_same_v<Asked, Take>) {
      add(asked.generation);
      add_all(asked.shards);
    } else if constexpr (std::is_same_v<Asked, Release> || std::is_same_v<Asked, Commit>) {
      add_all(asked.shards);
    } else if constexpr (std::is_same_v<Asked, Post>) {
      for (const Mail& mail : asked.mail) {
        add(mail.run);
        add(number_of(mail.result));
      }
    } else if constexpr (std::is_same_v<Asked, Apply>) {
      add(asked.generation);
      add(asked.print);
      add(asked.version);
    }
  };
  std::visit(add_request, request);
}

void Digest::add(const Answer& answer, MemberId asker) {
  add(answer.index());
  if (const auto* const looked = std::get_if<Looked>(&answer)) {
    add(looked->view, asker);
    for (const ShardId orphaned : looked->orphaned) add(orphaned);
  } else if (const auto* const taken = std::get_if<Taken>(&answer)) {
    add(taken->view, asker);
    add_all(taken->shards);
    add_all(taken->records);
  } else if (const auto* const committed = std::get_if<Committed>(&answer)) {
    add_age(committed->clock);
    for (const ShardId refused : committed->refused) add(refused);
  }
}

void Digest::add(const Member& member) {
  const BootTime now{time_.now.time_since_epoch()};
  add(member.id_);
  add(number_of(member.phase_));
  add(member.print_);
  add(member.version_);
  add(member.generation_);
  add((member.initialized_ ? 16U : 0U) + (member.superseded_ ? 8U : 0U) +
      (member.applies_ ? 4U : 0U) + (member.lapsed_ ? 2U : 0U) + (member.looks_soon_ ? 1U : 0U));
  add(member.applied_at_ ? 1 + *member.applied_at_ : 0);

  add_deadline(member.lease_.until());
  const auto shown = member.time_.at(now);
  add(shown ? number_of(std::min(time_.now - *shown, lag_max).count()) : ~std::uint64_t{0});
  for (const auto& [id, renewals, until] : member.watch_.watched_) {
    add(id);
    add_renewals(id, renewals);
    add_deadline(until);
  }
  // Of these instants only the order counts.
  add(member.view_sent_ >= member.called_ ? 1U : 0U);
  add(member.view_.version);
  add(member.view_.generation);
  add(member.view_.list);
  for (const MemberRow& row : member.view_.members) {
    add(row.id);
    add(row.accepts ? 1U : 0U);
  }
  add_all(member.view_.shards);
  add_all(member.view_.mail);
  add_all(member.view_.runs);
  for (const ShardId shard : member.share_) add(shard);
  add_renewals(member.id_, member.renewals_);
  if (member.work_view_) add_renewals(member.id_, *member.work_view_);
  add_deadline(member.next_renewal_);
  add_deadline(member.next_wake());
  for (const Link& link : member.links_) {
    add(number_of(link.state_));
    add((link.waiting_ ? 2U : 0U) + (link.since_ >= member.called_ ? 1U : 0U));
    add(number_of(link.delay_.count()));
    if (link.waiting_ || link.state_ == Link::State::connecting) add_age(link.since_);
    if (link.state_ == Link::State::down) add_deadline(link.next_try_);
  }

  const Tasks& tasks = member.tasks_;
  for (const auto& [id, shard] : tasks.shards_) add(shard);
  for (const auto& [name, running] : tasks.elsewhere_) {
    add(running.run);
    add(running.runner);
  }
  for (const auto& [run, shard] : tasks.removed_) add(run);
  for (const auto& [run, task] : tasks.here_) add(run);
  add(tasks.core_.stored().fence);
  const auto add_task = [this](const Core::Task& task) {
    add(task.name);
    add(number_of(task.retry_delay.count()));
    add(task.progress);
    add((task.registered ? 2U : 0U) + (task.elsewhere ? 1U : 0U));
  };
  tasks.core_.for_each_registered([&](const Core::Task& task) {
    add_task(task);
    add(tasks.core_.due_since(task) == no_instant ? 0U : 1U);
  });
  tasks.core_.for_each_running(add_task);

  for (const auto& [key, run] : member.runs_) {
    add(key);
    add(run.result ? 1 + number_of(*run.result) : 0);
    for (const Link& link : member.links_) add(run.since < link.since_ ? 1U : 0U);
  }
  add(number_of(member.work_));
  for (const Start& start : member.decided_.starts) add(start.fence);
  for (const auto& [run, end] : member.decided_.ends) {
    add(run);
    add(number_of(end.result));
    if (end.posted) add_age(*end.posted);
  }
  for (const auto& [id, shard] : member.decided_.writes) add(shard);
  add_all(member.posted_);
  add_deadline(member.paused_until_);
  add_deadline(member.declines_until_);
  if (member.failing_since_) add_age(*member.failing_since_);
  if (member.quiescent_since_) add_age(*member.quiescent_since_);
}

}  // namespace dutiful::cluster
