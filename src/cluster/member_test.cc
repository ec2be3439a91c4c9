#include "cluster/member.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cluster/records.h"

namespace dutiful::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Instant minute = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
const std::vector<TaskConfig> list{{.name = "a", .cron = "* * * * *", .retry_delay = 5s}};
const RunKey first_run{"a", 1};

// A member without a cluster: the test gives the answers of a database with one shard.
class MemberTest : public testing::Test {
 protected:
  // Joins, and sends its list.
  MemberTest() {
    member.initialize(list, now);
    member.connected(Channel::renewals, now);
    member.connected(Channel::work, now);
    member.answered(Channel::renewals, Looked{view(false)}, now);
    EXPECT_TRUE(has_sent<Apply>());
  }

  [[nodiscard]] View view(bool accepts) const {
    View view{.clock = minute, .renewals = renewals};
    view.members = {{.id = member.id(), .renewals = renewals, .accepts = accepts}};
    view.shards.resize(1);
    return view;
  }
  [[nodiscard]] View view_of_list(bool accepts = true) const {
    View seen = view(accepts);
    seen.generation = 1;
    seen.list = print_of(list, 0, "");
    seen.shards = {{.holder = member.id(), .epoch = 1}};
    return seen;
  }
  // The answer to Apply, after which it renews to say that it accepts shards. The task owes a run,
  // because this is the minute of its first registration.
  [[nodiscard]] Taken taken() const {
    Taken taken{.view = view_of_list(false)};
    taken.shards = {{.id = 0, .epoch = 1}};
    taken.records = replace_list(
        list, {}, taken.view.members, {}, minute, Calendar{Zone::utc()}, Override::keep_history);
    return taken;
  }
  void start_first_run() {
    member.answered(Channel::work, taken(), now);
    EXPECT_TRUE(has_sent<Commit>());
    member.answered(Channel::work, Committed{.clock = minute}, now);
    EXPECT_TRUE(has<StartRun>());
  }
  // The answer to the renewal that is on its way.
  void answer_renewal(View seen) {
    ++renewals;
    seen.renewals = renewals;
    member.answered(Channel::renewals, Looked{std::move(seen)}, now);
  }
  void renew() {
    now += 2s;
    member.wake(now);
    EXPECT_TRUE(has_sent<Renew>());
  }

  // Whether one of the effects since the last question is of this type.
  template <typename Wanted>
  [[nodiscard]] bool has() {
    take();
    return std::ranges::any_of(std::exchange(effects, {}), [](const Effect& effect) {
      return std::holds_alternative<Wanted>(effect);
    });
  }
  // Whether such a request was sent since the last question.
  template <typename Wanted>
  [[nodiscard]] bool has_sent() {
    take();
    return std::ranges::any_of(std::exchange(sent, {}), [](const Request& request) {
      return std::holds_alternative<Wanted>(request);
    });
  }

  BootTime now{1h};
  std::uint64_t renewals = 0;
  Member member{{.calendar = Calendar{Zone::utc()}}, MemberId{10}};

 private:
  void take() {
    for (Effect& effect : member.take_effects()) {
      if (const auto* send = std::get_if<Send>(&effect)) sent.push_back(send->request);
      effects.push_back(std::move(effect));
    }
  }

  Effects effects;
  std::vector<Request> sent;
};

// N10: the database has acknowledged the start of a run, and does not know it any more.
TEST_F(MemberTest, notices_that_the_database_has_forgotten_a_run) {
  start_first_run();
  // This renewal was sent before the start was acknowledged, and proves nothing.
  answer_renewal(view_of_list());
  EXPECT_FALSE(has<Forgotten>());

  renew();
  View knows_it = view_of_list();
  knows_it.runs = {first_run};
  answer_renewal(std::move(knows_it));
  EXPECT_FALSE(has<Forgotten>());

  renew();
  answer_renewal(view_of_list());
  EXPECT_TRUE(has<Forgotten>());
}

// N10: an end of its own may be recorded while the renewal is on its way.
TEST_F(MemberTest, does_not_miss_a_run_that_has_ended) {
  start_first_run();
  answer_renewal(view_of_list());
  renew();
  member.ended(first_run, RunResult::success, now);
  answer_renewal(view_of_list());
  EXPECT_FALSE(has<Forgotten>());
}

// N4: a member that was declared dead becomes another, to which no earlier answer belongs.
TEST_F(MemberTest, takes_no_answer_that_was_for_the_member_that_it_was) {
  const MemberId before = member.id();
  const Taken late = taken();
  renew();
  member.answered(Channel::renewals, Dead{}, now);
  EXPECT_TRUE(has<EndRuns>());

  member.answered(Channel::work, late, now);
  EXPECT_TRUE(member.tasks().shards().empty());
  EXPECT_FALSE(has<Initialized>());

  now += 1s;
  member.wake(now);
  member.connected(Channel::renewals, now);
  EXPECT_NE(member.id(), before);
}

// N6: what it saw last may have been asked for on one connection, and arrive before an older view
// on the other. Here it shows that another member accepts no shards any more.
TEST_F(MemberTest, keeps_the_newer_of_two_views_that_arrive_in_the_wrong_order) {
  const MemberId self = member.id();
  const auto seen = [&](bool other_accepts, std::vector<ShardRow> shards) {
    View shown = view_of_list();
    shown.members.push_back({.id = MemberId{99}, .lease = lease_default, .accepts = other_accepts});
    shown.shards = std::move(shards);
    return shown;
  };
  Taken all{.view = view_of_list(false), .shards = {{0, 1}, {1, 1}, {2, 1}}};
  all.view.shards.assign(3, {self, 1});
  member.answered(Channel::work, all, now);
  EXPECT_TRUE(has_sent<Renew>());
  // The other has taken two of the shards, and let them go. One of them is the other's share.
  answer_renewal(seen(true, {{self, 1}, {MemberId::none, 3}, {MemberId::none, 3}}));
  EXPECT_TRUE(has_sent<Take>());
  const Taken older{.view = seen(true, {{self, 1}, {self, 4}, {MemberId::none, 3}}),
                    .shards = {{1, 4}}};

  renew();
  answer_renewal(seen(false, {{self, 1}, {self, 4}, {MemberId::none, 3}}));
  EXPECT_FALSE(has_sent<Take>());
  member.answered(Channel::work, older, now);
  EXPECT_TRUE(has_sent<Take>());
}

// I5: a member that has stopped does not take the answer to its last renewal for its death, and
// join again.
TEST_F(MemberTest, takes_no_answer_after_it_has_stopped) {
  member.answered(Channel::work, taken(), now);
  EXPECT_TRUE(has_sent<Renew>());
  member.answered(Channel::work, Committed{.clock = minute, .refused = {0}}, now);
  member.stop(now);
  EXPECT_TRUE(has_sent<Leave>());
  member.answered(Channel::work, Done{}, now);
  EXPECT_TRUE(has<Stopped>());

  member.answered(Channel::renewals, Dead{}, now);
  member.wake(now + 1min);
  EXPECT_TRUE(member.take_effects().empty());
}

}  // namespace
}  // namespace dutiful::cluster
