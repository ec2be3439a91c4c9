// Notices that members do not renew any more (RULES N3).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cluster/boot_time.h"
#include "cluster/database.h"

namespace dutiful::cluster {

// Counts, by the watcher's own clock, for how long the number of renewals of each member has stood
// still. No clock that steps can end a lease early, because no instant is compared.
class Watch {
 public:
  // An answer that came then showed these members.
  void see(std::span<const MemberRow> members, MemberId self, BootTime answered);

  // The watcher may have missed answers, because its lease or its connection ended: it counts from
  // the next answer on.
  void restart() { watched_.clear(); }

  struct Expired {
    MemberId member{};
    std::uint64_t renewals = 0;
  };
  // A member that may be declared dead.
  [[nodiscard]] std::optional<Expired> expired(BootTime now) const;
  // When the next member may be, unless it renews; BootTime::max(): none.
  [[nodiscard]] BootTime next() const;

 private:
  friend class Digest;

  struct Watched {
    MemberId member{};
    std::uint64_t renewals = 0;
    BootTime until{};
  };
  std::vector<Watched> watched_;  // by id
};

}  // namespace dutiful::cluster
