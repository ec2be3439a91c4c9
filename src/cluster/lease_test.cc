#include "cluster/lease.h"

#include <gtest/gtest.h>

#include "cluster/watch.h"

namespace dutiful::cluster {
namespace {

using namespace std::chrono_literals;

BootTime at(Duration since_boot) {
  return BootTime{since_boot};
}

// N3: counted from before the renewal was sent, less 0.1 % and a margin.
TEST(Lease, ends_before_anybody_may_declare_the_member_dead) {
  for (const Duration length : {lease_min, lease_default, lease_max}) {
    Lease lease{length};
    lease.renew(at(100s));
    Watch watch;
    // The answer cannot be seen before it was asked for.
    watch.see(std::vector<MemberRow>{{.id = MemberId{2}, .lease = length}}, MemberId{1}, at(100s));
    EXPECT_LT(lease.until() + drift_of(length), watch.next());
    EXPECT_GT(lease.until(), at(100s + length * 9 / 10));
  }
}

TEST(Lease, is_not_shortened_by_an_answer_that_comes_late) {
  Lease lease{10s};
  lease.renew(at(100s));
  const BootTime until = lease.until();
  lease.renew(at(95s));
  EXPECT_EQ(lease.until(), until);
}

TEST(Lease, holds_until_it_ends) {
  Lease lease{10s};
  EXPECT_FALSE(lease.holds(at(0s)));
  lease.renew(at(0s));
  EXPECT_TRUE(lease.holds(lease.until() - 1ms));
  EXPECT_FALSE(lease.holds(lease.until()));
  lease.end();
  EXPECT_FALSE(lease.holds(at(0s)));
}

// N6: a dead member is replaced within two seconds of its lease.
TEST(Lease, is_renewed_often_enough_for_a_quick_takeover) {
  for (const Duration length : {lease_min, lease_default, lease_max}) {
    EXPECT_LE(Lease{length}.interval(), 1500ms);
    EXPECT_LE(6 * Lease{length}.interval(), length);
  }
}

}  // namespace
}  // namespace dutiful::cluster
