// The state of a cluster as a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/boot_time.h"
#include "cluster/database.h"

namespace dutiful::cluster {

class Member;

// Equal for states with the same future, shifted in time; a search uses it to avoid visiting a
// state twice. So instants count relative to now, renewals by their order, and what nothing depends
// on does not count at all.
class Digest {
 public:
  struct Time {
    Instant now;         // every clock shows it
    Instant pulse;       // the only one that matters
    Duration age_max{};  // whatever is older counts as that old
  };

  // `visit` adds everything to the digest that it is given. It is called twice, because the order
  // of the renewals is known only at the end.
  template <typename Visit>
  [[nodiscard]] static std::uint64_t of(const Time& time, Visit visit) {
    Digest digest{time};
    visit(digest);
    digest.begin_again();
    visit(digest);
    return digest.value_;
  }

  void add(std::uint64_t value) {
    value_ = (value_ ^ value) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 29;
  }
  void add(std::string_view text);
  void add(MemberId member) { add(static_cast<std::uint64_t>(member)); }
  void add(const RunKey& run);
  void add(const TaskProgress& progress);
  void add(const Record& record);
  void add(const Mail& mail);
  void add(const ShardRow& shard);
  void add(const MemberRow& member);
  void add(const Request& request);
  void add(const Answer& answer, MemberId asker);
  void add(const Member& member);

  // When something will happen: whatever is due is due.
  void add_deadline(Instant at);
  void add_deadline(BootTime at) { add_deadline(Instant{at.time_since_epoch()}); }
  // Since when something has been so.
  void add_age(Instant since);
  void add_age(BootTime since) { add_age(Instant{since.time_since_epoch()}); }
  void add_renewals(MemberId member, std::uint64_t renewals);

  template <typename T>
  void add_all(const T& values) {
    add(values.size());
    for (const auto& value : values) add(value);
  }

 private:
  explicit Digest(const Time& time) : time_(time) {}

  void begin_again();
  void add(const View& view, MemberId asker);
  void add(const Commit::Shard& shard);
  void add(const Take::Shard& shard);
  void add(const Taken::Shard& shard);

  Time time_;
  std::uint64_t value_ = 0;
  std::vector<std::pair<MemberId, std::uint64_t>> renewals_;
  bool is_ordered_ = false;
};

}  // namespace dutiful::cluster
