#include "sim/cluster_exhaustive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster_walk.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Kind = ClusterStep::Kind;

TEST(ExhaustiveCluster, keeps_every_promise_with_one_fault_of_any_kind) {
  for (const char* const kind : {"crash",
                                 "pause",
                                 "break",
                                 "slow",
                                 "lost_notification",
                                 "failing_commit",
                                 "change_list",
                                 "stop"}) {
    const ExhaustedCluster result = search({.faults_max = 1, .kinds = kind});
    EXPECT_FALSE(result.violation) << kind << ": " << result.violation->text();
    EXPECT_EQ(result.faults, 1) << kind;
    EXPECT_GT(result.states, 50U) << kind;
  }
}

TEST(ExhaustiveCluster, keeps_every_promise_with_a_broken_connection_and_a_change_of_the_list) {
  const ExhaustedCluster result = search({.faults_max = 2, .kinds = "break,change_list"});
  EXPECT_FALSE(result.violation) << result.violation->text();
  EXPECT_EQ(result.faults, 2);
}

// N6: a dead member's run is restarted when its lease has ended, and not before.
TEST(ExhaustiveCluster, restarts_what_ran_on_a_member_that_died_within_the_lease_and_two_seconds) {
  const ExhaustedCluster result = search({.faults_max = 1, .kinds = "crash"});
  EXPECT_GT(result.settles, ClusterWalk::lease);
  EXPECT_LE(result.settles, ClusterWalk::lease + 2s);
}

TEST(ExhaustiveCluster, says_how_far_it_came) {
  ExhaustiveCluster options;
  options.proceed = [](int faults, std::size_t) { return faults < 1; };
  const ExhaustedCluster result = search(options);
  EXPECT_EQ(result.faults, 0);
  EXPECT_EQ(result.searched, 1);
}

TEST(ExhaustiveCluster, knows_its_kinds_of_faults) {
  EXPECT_THROW((void)search({.kinds = "crash,earthquake"}), std::invalid_argument);
}

std::string digests_of_one_round(ClusterWalk walk) {
  std::string digests;
  for (int i = 0; i < 4; ++i) {
    walk.take(walk.steps().front());
    digests += std::to_string(walk.digest()) + ' ';
  }
  return digests;
}

// Otherwise the search would never end.
TEST(ClusterWalk, is_the_same_after_each_round_of_renewals) {
  ClusterWalk walk;
  while (walk.steps().front().kind != Kind::passes || walk.now() < ClusterWalk::pulse() + 5s) {
    walk.take(walk.steps().front());
  }
  ASSERT_TRUE(walk.is_settled());
  ClusterWalk later = walk;
  const Instant now = walk.now();
  while (later.now() < now + 400ms) later.take(later.steps().front());
  EXPECT_EQ(digests_of_one_round(walk), digests_of_one_round(later));
}

TEST(ClusterWalk, shares_nothing_with_its_copy) {
  ClusterWalk walk;
  const std::uint64_t before = walk.digest();
  ClusterWalk copy = walk;
  copy.take({.kind = Kind::crashes, .host = 0});
  EXPECT_NE(copy.digest(), before);
  EXPECT_EQ(walk.digest(), before);
}

}  // namespace
}  // namespace dutiful
