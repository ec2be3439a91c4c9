#include "cluster/spread.h"

#include <algorithm>
#include <functional>

namespace dutiful::cluster {

std::vector<ShardId> share_of(MemberId self,
                              std::span<const MemberRow> members,
                              std::span<const ShardRow> shards) {
  struct Place {
    MemberId member{};
    std::size_t held = 0;
    std::size_t room = 0;  // for so many more
  };
  std::vector<Place> places;  // of the members that accept shards, by id
  places.reserve(members.size());
  for (const MemberRow& member : members) {
    if (member.accepts) places.push_back({.member = member.id});
  }
  const auto place_of = [&places](MemberId member) {
    return std::ranges::find(places, member, &Place::member);
  };
  if (place_of(self) == places.end()) return {};
  for (const ShardRow& shard : shards) {
    if (const auto holder = place_of(shard.holder); holder != places.end()) ++holder->held;
  }

  // Those that hold most keep the shards that cannot be divided evenly.
  std::vector<Place*> order;
  order.reserve(places.size());
  for (Place& place : places) order.push_back(&place);
  std::ranges::stable_sort(order, std::greater<>{}, &Place::held);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool has_one_more = i < shards.size() % order.size();
    order[i]->room = shards.size() / order.size() + (has_one_more ? 1 : 0);
  }

  std::vector<ShardId> share;
  std::vector<ShardId> spare;
  for (ShardId id = 0; id < shards.size(); ++id) {
    const auto place = place_of(shards[id].holder);
    if (place == places.end() || place->room == 0) {
      spare.push_back(id);
      continue;
    }
    --place->room;
    if (place->member == self) share.push_back(id);
  }
  auto next = spare.begin();
  for (const Place& place : places) {
    const auto end = next + static_cast<std::ptrdiff_t>(place.room);
    if (place.member == self) share.insert(share.end(), next, end);
    next = end;
  }
  std::ranges::sort(share);
  return share;
}

}  // namespace dutiful::cluster
