#include "cluster/spread.h"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace dutiful::cluster {
namespace {

using Shares = std::map<MemberId, std::vector<ShardId>>;

Shares shares_of(const std::vector<MemberRow>& members, const std::vector<ShardRow>& shards) {
  Shares shares;
  for (const MemberRow& member : members) {
    shares[member.id] = share_of(member.id, members, shards);
  }
  return shares;
}

std::vector<MemberRow> members(std::uint64_t count) {
  std::vector<MemberRow> members;
  for (std::uint64_t i = 1; i <= count; ++i) members.push_back({.id = MemberId{i}});
  return members;
}

// N7: within one shard of each other; N2: every shard has one member.
TEST(Spread, gives_every_shard_to_one_member_and_each_as_many_within_one) {
  std::mt19937_64 random{1};
  for (int world = 0; world < 2000; ++world) {
    auto live = members(1 + random() % 6);
    for (MemberRow& member : live) member.accepts = random() % 4 != 0;
    live.front().accepts = true;
    std::vector<ShardRow> shards(1 + random() % 40);
    for (ShardRow& shard : shards) shard.holder = MemberId{random() % 9};  // some are gone

    std::set<ShardId> given;
    std::size_t total = 0;
    std::size_t least = shards.size();
    std::size_t most = 0;
    for (const auto& [id, share] : shares_of(live, shards)) {
      given.insert(share.begin(), share.end());
      total += share.size();
      const auto row = std::ranges::find(live, id, &MemberRow::id);
      if (!row->accepts) {
        EXPECT_TRUE(share.empty());
        continue;
      }
      least = std::min(least, share.size());
      most = std::max(most, share.size());
    }
    EXPECT_EQ(given.size(), shards.size());
    EXPECT_EQ(total, shards.size());
    EXPECT_LE(most, least + 1);
  }
}

TEST(Spread, moves_nothing_that_is_spread_evenly) {
  const auto live = members(3);
  std::vector<ShardRow> shards(8);
  for (ShardId id = 0; id < shards.size(); ++id) shards[id].holder = live[id % 3].id;
  for (const auto& [member, share] : shares_of(live, shards)) {
    for (const ShardId id : share) EXPECT_EQ(shards[id].holder, member);
  }
}

TEST(Spread, moves_only_the_part_of_a_new_member) {
  const auto live = members(4);
  std::vector<ShardRow> shards(64);
  for (ShardId id = 0; id < shards.size(); ++id) shards[id].holder = live[id % 3].id;
  std::size_t moved = 0;
  for (const auto& [member, share] : shares_of(live, shards)) {
    for (const ShardId id : share) moved += shards[id].holder != member ? 1 : 0;
  }
  EXPECT_EQ(moved, 16U);
}

}  // namespace
}  // namespace dutiful::cluster
