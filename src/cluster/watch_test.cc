#include "cluster/watch.h"

#include <gtest/gtest.h>

namespace dutiful::cluster {
namespace {

using namespace std::chrono_literals;

constexpr MemberId self{1};
constexpr MemberId other{2};

BootTime at(Duration since_boot) {
  return BootTime{since_boot};
}

std::vector<MemberRow> members(std::uint64_t renewals) {
  return {{.id = self, .renewals = 0, .lease = 10s},
          {.id = other, .renewals = renewals, .lease = 10s}};
}

// N3: another may declare it dead after it has seen its number unchanged for a whole lease.
TEST(Watch, waits_for_a_whole_lease_from_the_answer_that_showed_the_number) {
  Watch watch;
  watch.see(members(7), self, at(100s));
  watch.see(members(7), self, at(105s));
  EXPECT_EQ(watch.next(), at(110s));
  EXPECT_FALSE(watch.expired(at(110s - 1ms)));
  const auto expired = watch.expired(at(110s));
  ASSERT_TRUE(expired);
  EXPECT_EQ(expired->member, other);
  EXPECT_EQ(expired->renewals, 7U);
}

TEST(Watch, counts_anew_when_the_number_grows) {
  Watch watch;
  watch.see(members(7), self, at(100s));
  watch.see(members(8), self, at(109s));
  EXPECT_FALSE(watch.expired(at(118s)));
  EXPECT_TRUE(watch.expired(at(119s)));
}

// N3: without a lapse or a new connection of its own.
TEST(Watch, counts_anew_after_it_may_have_missed_something) {
  Watch watch;
  watch.see(members(7), self, at(100s));
  watch.restart();
  EXPECT_FALSE(watch.expired(at(200s)));
  watch.see(members(7), self, at(200s));
  EXPECT_EQ(watch.next(), at(210s));
}

TEST(Watch, does_not_watch_itself_or_members_that_have_left) {
  Watch watch;
  watch.see(members(7), self, at(100s));
  watch.see(std::vector<MemberRow>{{.id = self, .renewals = 1, .lease = 10s}}, self, at(101s));
  EXPECT_EQ(watch.next(), BootTime::max());
}

}  // namespace
}  // namespace dutiful::cluster
