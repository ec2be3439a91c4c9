// Random requests of several members, mostly such that they happen, sometimes stale.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/ends.h"
#include "sim/virtual_database.h"

namespace dutiful {

// Looks at a database to make requests that mean something in it.
class RandomRequests {
 public:
  RandomRequests(const VirtualDatabase& database, unsigned seed)
      : database_(database), random_(seed) {
    for (int i = 0; i < 4; ++i) members_.push_back(new_member());
  }

  Instant next_clock() {
    clock_ += Duration{static_cast<std::int64_t>(below(90'000))};
    if (one_in(50)) clock_ -= std::chrono::hours{static_cast<int>(below(30))};
    return clock_;
  }

  cluster::Request next() {
    switch (below(20)) {
      case 0:
      case 1:
        if (one_in(3)) members_[below(members_.size())] = new_member();
        return cluster::Join{any_member(), std::chrono::seconds{static_cast<int>(2 + below(10))}};
      case 2:
      case 3:
        return cluster::Renew{any_member(), !one_in(3)};
      case 4:
        return declare();
      case 5:
      case 6:
      case 7:
        return cluster::Take{any_member(), generation(), some_shards()};
      case 8:
        return cluster::Release{any_member(), some_shards()};
      case 9:
      case 10:
        return post();
      case 11:
        return apply();
      case 12:
        if (one_in(2)) return cluster::Leave{any_member()};
        [[fallthrough]];
      default:
        return commit();
    }
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  Duration milliseconds(std::size_t bound) { return Duration{static_cast<int>(below(bound))}; }
  bool one_in(std::size_t chances) { return below(chances) == 0; }

  // All 64 bits: they must be ordered without a sign.
  cluster::MemberId new_member() {
    return cluster::MemberId{(std::uint64_t{random_()} << 32U) | random_()};
  }
  cluster::MemberId any_member() { return members_[below(members_.size())]; }
  cluster::Generation generation() { return database_.generation() - (one_in(10) ? 1 : 0); }
  cluster::Epoch epoch(cluster::ShardId shard) {
    const cluster::Epoch now = database_.shards()[shard].epoch;
    return one_in(8) ? now + 1 - below(3) : now;
  }

  std::vector<cluster::Take::Shard> some_shards() {
    std::vector<cluster::Take::Shard> shards;
    for (cluster::ShardId id = 0; id < database_.shards().size(); ++id) {
      if (!one_in(3)) shards.push_back({id, epoch(id)});
    }
    return shards;
  }

  cluster::Request declare() {
    const cluster::MemberId dead = any_member();
    const auto row = database_.members().find(dead);
    const std::uint64_t renewals = row == database_.members().end() ? 0 : row->second.renewals;
    return cluster::Declare{any_member(), dead, renewals + (one_in(3) ? 1 : 0)};
  }

  cluster::RunResult any_result() { return static_cast<cluster::RunResult>(below(3)); }

  cluster::Request post() {
    cluster::Post post{any_member(), {}};
    for (const auto& [name, record] : database_.records()) {
      if (one_in(3)) {
        post.mail.push_back(
            {.run = {name, record.progress.fence - below(2)}, .result = any_result()});
      }
    }
    if (!post.mail.empty() && one_in(4)) {  // twice in one: the first counts
      post.mail.push_back(post.mail.front());
      post.mail.back().result = any_result();
    }
    return post;
  }

  // Bytes that no encoding has, quotes, backslashes.
  std::string name_of(std::size_t number) {
    const std::string odd[] = {"plain",
                               "a\"b\\c",
                               std::string{"n\0l", 3},
                               "\xff\xfe",
                               "{a,b}",
                               "gr\xc3\xb6\xc3\x9f"
                               "e",
                               "NULL",
                               "\\x41"};
    return odd[number % 8] + std::to_string(number / 8);
  }

  cluster::Request apply() {
    cluster::Apply apply{.member = any_member(),
                         .generation = generation(),
                         .print = one_in(6) ? database_.list() : random_(),
                         .version = below(3)};
    for (std::size_t number = 0; number < 14; ++number) {
      if (one_in(3)) continue;
      apply.list.push_back(
          {.name = name_of(number),
           .cron = one_in(2) ? "* * * * *" : "0,30 3 * * *",
           .retry_delay = std::chrono::seconds{one_in(9) ? 1'000'000'000'000 : 60}});
    }
    return apply;
  }

  cluster::Request commit() {
    cluster::Commit commit{any_member(), {}};
    for (const auto& wanted : some_shards()) {
      cluster::Commit::Shard shard{
          .id = wanted.id, .epoch = wanted.epoch, .fence = database_.fences()[wanted.id]};
      for (const auto& [name, record] : database_.records()) {
        const bool is_here = cluster::shard_of(name, database_.shards().size()) == wanted.id;
        if (is_here && one_in(2)) write(record, commit.member, shard);
      }
      for (const auto& [run, mail] : database_.mail()) {
        if (one_in(3)) shard.read.push_back(run);
      }
      if (one_in(10)) {
        cluster::Commit::Task missing{.run = {"there is no such task", 1}, .progress = {}};
        missing.progress.first_coming = missing.progress.served_until = clock_;
        shard.tasks.push_back(missing);
      }
      commit.shards.push_back(std::move(shard));
    }
    return commit;
  }

  void write(const cluster::Record& record, cluster::MemberId self, cluster::Commit::Shard& shard) {
    TaskProgress progress = record.progress;
    if (progress.state == TaskState::running) {
      cluster::Commit::Task task{.run = {record.config.name, progress.fence}, .progress = progress};
      if (one_in(6)) {  // a corrected clock
        task.runner = record.runner;
        task.progress.served_until = clock_;
        shard.tasks.push_back(task);
        return;
      }
      task.ended = any_result();
      if (one_in(3)) task.posted = clock_ - milliseconds(5000);
      task.forget = !record.registered;
      end(task.progress, *task.ended, record.config.retry_delay);
      shard.tasks.push_back(task);
      if (task.forget || one_in(2)) return;
      progress = task.progress;  // and it starts again, in the same commit
    }
    progress.state = TaskState::running;
    progress.boot_pending = progress.orphan_pending = false;
    progress.retry_at = no_instant;
    progress.fence = ++shard.fence;
    ++progress.attempt;
    progress.pulse = clock_;
    progress.last_attempt = clock_ - milliseconds(1000);
    progress.served_until = clock_ + milliseconds(3000) - milliseconds(3000);
    cluster::Commit::Task task{.run = {record.config.name, progress.fence},
                               .progress = progress,
                               .runner = one_in(5) ? any_member() : self,
                               .started = static_cast<Reason>(below(4))};
    if (!one_in(3)) {
      task.account = record.account;
      task.account->fates.run += 1;
      task.account->recurred += static_cast<std::int64_t>(below(2));
    }
    shard.tasks.push_back(task);
  }

  void end(TaskProgress& progress, cluster::RunResult result, Duration retry_delay) {
    const Instant noted = clock_ - milliseconds(1000);
    switch (result) {
      case cluster::RunResult::success:
        return succeed(progress, noted);
      case cluster::RunResult::failure:
        return fail(progress, noted, retry_delay);
      case cluster::RunResult::interrupted:
        return interrupt(progress);
    }
  }

  const VirtualDatabase& database_;
  std::mt19937 random_;
  std::vector<cluster::MemberId> members_;
  Instant clock_ = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1};
};

}  // namespace dutiful
