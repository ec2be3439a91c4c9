#include "cluster/watch.h"

#include <algorithm>

namespace dutiful::cluster {

void Watch::see(std::span<const MemberRow> members, MemberId self, BootTime answered) {
  auto place = watched_.begin();
  for (const MemberRow& member : members) {
    if (member.id == self) continue;
    while (place != watched_.end() && place->member < member.id) place = watched_.erase(place);
    const Watched anew{member.id, member.renewals, answered + member.lease};
    if (place == watched_.end() || place->member != member.id) {
      place = watched_.insert(place, anew);
    } else if (place->renewals < member.renewals) {
      *place = anew;
    }
    ++place;
  }
  watched_.erase(place, watched_.end());
}

std::optional<Watch::Expired> Watch::expired(BootTime now) const {
  for (const Watched& watched : watched_) {
    if (watched.until <= now) return Expired{watched.member, watched.renewals};
  }
  return std::nullopt;
}

BootTime Watch::next() const {
  BootTime next = BootTime::max();
  for (const Watched& watched : watched_) next = std::min(next, watched.until);
  return next;
}

}  // namespace dutiful::cluster
