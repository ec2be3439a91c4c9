// Which shards a member should hold (RULES N7).
#pragma once

#include <span>
#include <vector>

#include "cluster/database.h"

namespace dutiful::cluster {

// The shards that `self` should hold, in ascending order. Members that see the same compute the
// same: every shard for exactly one member that accepts shards, as many for each within one, and as
// few moves as that allows.
[[nodiscard]] std::vector<ShardId> share_of(MemberId self,
                                            std::span<const MemberRow> members,
                                            std::span<const ShardRow> shards);

}  // namespace dutiful::cluster
