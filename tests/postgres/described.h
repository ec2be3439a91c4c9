// Answers and records as text, for comparison and for people.
#pragma once

#include <string>
#include <variant>

#include "cluster/database.h"
#include "time/no_instant.h"

namespace dutiful {

namespace described_parts {

inline std::string text(Instant instant) {
  return instant == no_instant ? "-" : std::to_string(instant.time_since_epoch().count());
}
inline std::string text(cluster::MemberId id) {
  return std::to_string(static_cast<std::uint64_t>(id));
}

}  // namespace described_parts

inline std::string described(const TaskProgress& progress) {
  using described_parts::text;
  std::string all = std::to_string(static_cast<int>(progress.state)) + ' ' +
                    (progress.boot_pending ? 't' : 'f') + (progress.orphan_pending ? 't' : 'f');
  for (const std::uint64_t number : {std::uint64_t{progress.attempt},
                                     std::uint64_t{progress.retries},
                                     progress.fence,
                                     progress.recurrence}) {
    all += ' ' + std::to_string(number);
  }
  for (const Instant instant : {progress.pulse,
                                progress.first_coming,
                                progress.served_until,
                                progress.last_attempt,
                                progress.last_success,
                                progress.last_failure,
                                progress.retry_at,
                                progress.recurs_until}) {
    all += ' ' + text(instant);
  }
  return all;
}

inline std::string described(const Account& account) {
  std::string all = described_parts::text(account.from) + ' ' + std::to_string(account.number);
  PulseFates::for_each(account.fates, [&](const char* /*name*/, std::int64_t pulses) {
    all += ' ' + std::to_string(pulses);
  });
  return all + ' ' + std::to_string(account.recurred);
}

inline std::string described(const cluster::Record& record) {
  return record.config.name + " [" + record.config.cron + "] " +
         std::to_string(record.config.retry_delay.count()) +
         (record.registered ? " registered on " : " removed on ") +
         described_parts::text(record.runner) + ": " + described(record.progress) + " / " +
         described(record.account) + "\n";
}

inline std::string described(const cluster::Mail& mail) {
  return "mail " + mail.run.task + ' ' + std::to_string(mail.run.fence) + ' ' +
         std::to_string(static_cast<int>(mail.result)) + ' ' + described_parts::text(mail.at) +
         "\n";
}

inline std::string described(const cluster::MemberRow& member) {
  return "member " + described_parts::text(member.id) + ' ' + std::to_string(member.renewals) +
         ' ' + std::to_string(member.lease.count()) + (member.accepts ? " accepts\n" : "\n");
}

inline std::string described(const cluster::ShardRow& shard) {
  return "shard " + described_parts::text(shard.holder) + ' ' + std::to_string(shard.epoch) + "\n";
}

inline std::string described(const cluster::View& view) {
  std::string all = "clock " + described_parts::text(view.clock) + " generation " +
                    std::to_string(view.generation) + " list " + std::to_string(view.list) +
                    " version " + std::to_string(view.version) + " renewals " +
                    std::to_string(view.renewals) + "\n";
  for (const auto& member : view.members) all += described(member);
  for (const auto& shard : view.shards) all += described(shard);
  for (const auto& mail : view.mail) all += described(mail);
  for (const auto& run : view.runs) {
    all += "run " + run.task + ' ' + std::to_string(run.fence) + "\n";
  }
  return all;
}

struct DescribeAnswer {
  std::string operator()(const cluster::Dead& /*dead*/) const { return "dead\n"; }
  std::string operator()(const cluster::Failed& /*failed*/) const { return "failed\n"; }
  std::string operator()(const cluster::Looked& looked) const {
    std::string all = "looked\n" + described(looked.view);
    for (const auto shard : looked.orphaned) all += "orphaned " + std::to_string(shard) + "\n";
    return all;
  }
  std::string operator()(const cluster::Taken& taken) const {
    std::string all = "taken\n" + described(taken.view);
    for (const auto& shard : taken.shards) {
      all += "took " + std::to_string(shard.id) + ' ' + std::to_string(shard.epoch) + ' ' +
             std::to_string(shard.fence) + "\n";
    }
    for (const auto& record : taken.records) all += described(record);
    return all;
  }
  std::string operator()(const cluster::Committed& committed) const {
    std::string all = "committed " + described_parts::text(committed.clock) + "\n";
    for (const auto shard : committed.refused) all += "refused " + std::to_string(shard) + "\n";
    return all;
  }
  std::string operator()(const cluster::Done& done) const {
    return "done " + described_parts::text(done.clock) + "\n";
  }
};

inline std::string described(const cluster::Answer& answer) {
  return std::visit(DescribeAnswer{}, answer);
}

}  // namespace dutiful
