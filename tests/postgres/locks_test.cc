// Two transactions that meet. The other one is the test's own, so that it can be held open in the
// middle.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/blocked.h"
#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {
namespace {

using cluster::Channel;
using cluster::MemberId;
using testing::IsEmpty;
using testing::SizeIs;
using Happened = cluster::Connections;

constexpr MemberId self{1};
constexpr MemberId other{2};
constexpr std::chrono::seconds lease{10};

class Locks : public testing::Test {
 protected:
  Locks() {
    member.connect(Channel::work);
    for (const MemberId id : {self, other}) {
      (void)member.ask(Channel::work, cluster::Join{id, lease});
    }
    cluster::Apply apply{.member = self, .print = 1};
    apply.list.push_back({.name = "task", .cron = "* * * * *"});
    taken = member.ask_for<cluster::Taken>(apply);
  }

  // The answer to a request that has to wait for what the test does first, and for the rest.
  template <typename Kind>
  Kind ask_between(const std::string& first,
                   cluster::Request request,
                   const std::string& rest = "") {
    beside.run("BEGIN; " + first);
    member.connections().send(Channel::work, std::move(request));
    await_blocked(member, database);
    beside.run(rest + "; COMMIT");
    return std::get<Kind>(member.await<Happened::Answered>().answer);
  }

  const std::string database = PostgresServer::instance().make_database();
  PlainClient beside{PostgresServer::instance().address(database)};
  MemberInTest member{options_of(database)};
  cluster::Taken taken;
};

// N4: mail of a member that is declared dead is refused from then on.
TEST_F(Locks, post_waits_for_a_declaration_and_is_refused) {
  (void)ask_between<cluster::Dead>("DELETE FROM dutiful.member WHERE id = 1",
                                   cluster::Post{self, {{.run = {"task", 1}}}});
  EXPECT_EQ(beside.value("SELECT count(*) FROM dutiful.mail"), "0");
}

// N4: whoever is declared dead has posted all that it ever will.
TEST_F(Locks, declaration_waits_for_a_post_and_shows_it) {
  const auto looked =
      ask_between<cluster::Looked>("SELECT FROM dutiful.member WHERE id = 2 FOR KEY SHARE",
                                   cluster::Declare{self, other, 0},
                                   "INSERT INTO dutiful.mail VALUES ('task', 1, " +
                                       std::to_string(cluster::shard_of("task", 4)) + ", 0, 0)");
  EXPECT_THAT(looked.view.members, SizeIs(1));
  EXPECT_THAT(looked.view.mail, SizeIs(1));
}

// N3: it names the renewal that it saw last, and fails where that has changed.
TEST_F(Locks, declaration_waits_for_a_renewal_and_fails) {
  const auto looked = ask_between<cluster::Looked>(
      "UPDATE dutiful.member SET renewals = 1 WHERE id = 2", cluster::Declare{self, other, 0});
  EXPECT_THAT(looked.view.members, SizeIs(2));
  EXPECT_THAT(looked.orphaned, IsEmpty());
}

// Two views of one member are ordered by its renewals: so the later one also shows more.
TEST_F(Locks, view_waits_for_a_renewal_and_shows_it) {
  const auto again =
      ask_between<cluster::Taken>("UPDATE dutiful.member SET renewals = 7 WHERE id = 1",
                                  cluster::Take{self, 1, {{0, taken.shards[0].epoch}}},
                                  "INSERT INTO dutiful.member VALUES (3, 0, 2000, true)");
  EXPECT_EQ(again.view.renewals, 7);
  EXPECT_THAT(again.view.members, SizeIs(3));
}

// A renewal must not wait for a list of a million tasks.
TEST_F(Locks, renewal_does_not_wait_for_whoever_relies_on_the_member) {
  member.connect(Channel::renewals);
  beside.run(
      "BEGIN; SELECT FROM dutiful.member WHERE id = 1 FOR KEY SHARE;"
      " SELECT FROM dutiful.list FOR UPDATE; SELECT FROM dutiful.shard FOR NO KEY UPDATE");
  const auto looked =
      member.ask_for<cluster::Looked>(cluster::Renew{self, true}, Channel::renewals);
  EXPECT_EQ(looked.view.renewals, 1);
  beside.run("COMMIT");
}

// N4, N8: a shard that another list has taken meanwhile is not taken.
TEST_F(Locks, take_waits_for_a_list_and_looks) {
  const auto looked = ask_between<cluster::Looked>(
      "UPDATE dutiful.list SET generation = 2;"
      " UPDATE dutiful.shard SET holder = 2, epoch = epoch + 1",
      cluster::Take{self, 1, {{0, taken.shards[0].epoch}}});
  EXPECT_EQ(looked.view.generation, 2);
  EXPECT_EQ(looked.view.shards[0].holder, other);
}

// N8: of two lists that come together, one counts, and the other is looked at again.
TEST_F(Locks, list_waits_for_another_and_looks) {
  const auto looked =
      ask_between<cluster::Looked>("UPDATE dutiful.list SET generation = 2, print = 9",
                                   cluster::Apply{.member = self, .generation = 1, .print = 2});
  EXPECT_EQ(looked.view.generation, 2);
  EXPECT_EQ(beside.value("SELECT count(*) FROM dutiful.task"), "1");
}

// N4: a list removes the mail that it has read. What is posted meanwhile is for the new decider.
TEST_F(Locks, mail_that_comes_during_a_list_outlasts_it) {
  const auto again = ask_between<cluster::Taken>(
      "LOCK TABLE dutiful.stretch IN SHARE MODE",  // which it changes after it has read the mail
      cluster::Apply{.member = self, .generation = 1, .print = 2},
      "INSERT INTO dutiful.mail VALUES ('old', 1, 0, 0, 0)");
  EXPECT_EQ(again.view.generation, 2);
  EXPECT_THAT(again.view.mail, SizeIs(1));
  EXPECT_EQ(beside.value("SELECT count(*) FROM dutiful.mail"), "1");
}

}  // namespace
}  // namespace dutiful
