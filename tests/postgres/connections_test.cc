// Connections that fail, break and are made anew.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/blocked.h"
#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {
namespace {

using cluster::Channel;
using cluster::MemberId;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Happened = cluster::Connections;

constexpr std::chrono::seconds lease{10};
constexpr MemberId self{0xffff'ffff'ffff'fff0};
constexpr MemberId other{5};

class Postgres : public testing::Test {
 protected:
  // A task in each of the four shards, and the member that holds all of them.
  cluster::Taken apply(MemberInTest& member, MemberId id = self) {
    (void)member.ask(Channel::work, cluster::Join{id, lease});
    cluster::Apply apply{.member = id, .print = 1};
    for (int i = 0; i < 12; ++i) {
      apply.list.push_back({.name = "task " + std::to_string(10 + i), .cron = "* * * * *"});
    }
    return member.ask_for<cluster::Taken>(apply);
  }

  // Records the start of the first task of a shard.
  static cluster::Commit start(const cluster::Taken& taken, cluster::ShardId shard) {
    const auto record = std::ranges::find_if(taken.records, [&](const cluster::Record& each) {
      return cluster::shard_of(each.config.name, taken.view.shards.size()) == shard;
    });
    TaskProgress progress = record->progress;
    progress.state = TaskState::running;
    progress.boot_pending = false;
    progress.fence = taken.shards[shard].fence + 1;
    progress.attempt = 1;
    progress.pulse = progress.last_attempt = taken.view.clock;
    return {.member = self,
            .shards = {{.id = shard,
                        .epoch = taken.shards[shard].epoch,
                        .fence = progress.fence,
                        .tasks = {{.run = {record->config.name, progress.fence},
                                   .progress = progress,
                                   .runner = self,
                                   .started = Reason::cron}}}}};
  }

  const std::string database = PostgresServer::instance().make_database();
  PlainClient owner{PostgresServer::instance().address(database)};
};

// N10: told, with the reason, and without the password.
TEST_F(Postgres, wrong_password_is_told_without_it) {
  owner.run("CREATE ROLE guarded LOGIN PASSWORD 'right'");
  postgres::Options options = options_of(database);
  options.address = PostgresServer::instance().address(database, "guarded", "s3cr%2At");

  const std::string why = MemberInTest{options}.fail_to_connect();
  owner.run("DROP ROLE guarded");

  EXPECT_THAT(why, HasSubstr("password authentication failed for user \"guarded\""));
  EXPECT_THAT(why, Not(HasSubstr("s3cr")));
}

TEST_F(Postgres, database_that_does_not_exist_is_named) {
  EXPECT_THAT(MemberInTest{options_of("missing")}.fail_to_connect(),
              HasSubstr("database \"missing\" does not exist"));
}

TEST_F(Postgres, unreachable_host_is_told_without_the_password) {
  for (const char* host : {"127.0.0.1:1", "localhost:1", "localhost:1,127.0.0.1:2"}) {
    postgres::Options options = options_of(database);
    options.address = std::string{"postgresql://me:s3cret@"} + host + "/jobs";
    const std::string why = MemberInTest{options}.fail_to_connect();
    EXPECT_THAT(why, HasSubstr("Connection refused")) << host;
    EXPECT_THAT(why, HasSubstr("database \"jobs\"")) << host;
    EXPECT_THAT(why, Not(HasSubstr("s3cret"))) << host;
  }
}

TEST_F(Postgres, host_without_an_address_is_told) {
  postgres::Options options = options_of(database);
  options.address = "postgresql://me:s3cret@no-such-host.invalid/jobs";
  const std::string why = MemberInTest{options}.fail_to_connect();
  EXPECT_THAT(why, HasSubstr("cannot resolve the host \"no-such-host.invalid\""));
  EXPECT_THAT(why, Not(HasSubstr("s3cret")));
}

// libpq's own message would repeat what it could not read.
TEST_F(Postgres, invalid_address_is_not_repeated) {
  for (const char* text : {"postgresql://me:s3%ret@host/jobs", "password=s3cret jobs"}) {
    postgres::Options options = options_of(database);
    options.address = text;
    try {
      const MemberInTest member{options};
      ADD_FAILURE() << text;
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr("invalid address"));
      EXPECT_THAT(error.what(), Not(HasSubstr("s3")));
    }
  }
}

// N6: whoever hands over tells the others, who look at once.
TEST_F(Postgres, notification_arrives_where_renewals_are_sent) {
  MemberInTest waiting{options_of(database)};
  waiting.connect(Channel::renewals);
  MemberInTest leaving{options_of(database)};
  leaving.connect(Channel::work);
  (void)apply(leaving);
  while (!std::holds_alternative<Happened::Notified>(waiting.next())) {
  }

  (void)leaving.ask_for<cluster::Done>(cluster::Leave{self});

  EXPECT_TRUE(std::holds_alternative<Happened::Notified>(waiting.next()));
}

// N4: what an earlier connection still has on its way cannot pass the epochs of the new one.
TEST_F(Postgres, late_request_of_a_broken_connection_is_refused) {
  MemberInTest early{options_of(database)};
  early.connect(Channel::work);
  const cluster::Taken taken = apply(early);
  // The commit waits at a lock in the server, while the member gives its connection up.
  owner.run("BEGIN; SELECT FROM dutiful.shard WHERE id = 2 FOR UPDATE");
  early.connections().send(Channel::work, start(taken, 2));
  await_blocked(early, database);

  // The connection that is made anew takes the shard first.
  owner.run("UPDATE dutiful.shard SET epoch = epoch + 1 WHERE id = 2");
  owner.run("COMMIT");
  const auto late = std::get<cluster::Committed>(early.await<Happened::Answered>().answer);

  EXPECT_THAT(late.refused, testing::ElementsAre(2U));
  EXPECT_EQ(owner.value("SELECT count(*) FROM dutiful.journal"), "0");
}

TEST_F(Postgres, terminated_backend_disconnects_and_its_shards_are_taken_anew) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::work);
  const cluster::Taken taken = apply(member);
  owner.run("BEGIN; SELECT FROM dutiful.shard WHERE id = 2 FOR UPDATE");
  member.connections().send(Channel::work, start(taken, 2));
  await_blocked(member, database);
  PlainClient killer{PostgresServer::instance().address(database)};
  killer.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE application_name = 'dutiful' AND datname = current_database()");
  owner.run("COMMIT");

  const std::string why = member.await<Happened::Disconnected>().why;
  EXPECT_THAT(why, AnyOf(HasSubstr("terminating connection"), HasSubstr("closed the connection")));
  EXPECT_THAT(why, HasSubstr(database));

  // The new connection holds its shards under new epochs, and the old ones count no more.
  member.connect(Channel::work);
  cluster::Take again{self, 1, {}};
  for (const auto& shard : taken.shards) again.shards.push_back({shard.id, shard.epoch});
  EXPECT_EQ(member.ask_for<cluster::Taken>(again).shards.size(), 4);
  EXPECT_THAT(member.ask_for<cluster::Committed>(start(taken, 2)).refused,
              testing::ElementsAre(2U));
}

TEST_F(Postgres, idle_connection_that_breaks_is_noticed) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::renewals);
  member.connect(Channel::work);

  owner.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
      " WHERE application_name = 'dutiful' AND datname = current_database()");

  (void)member.await<Happened::Disconnected>();
  (void)member.await<Happened::Disconnected>();
}

// The member has not heard yet that the connection is lost.
TEST_F(Postgres, request_on_a_lost_connection_has_no_answer) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::renewals);
  member.connect(Channel::work);
  owner.run(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
      " WHERE application_name = 'dutiful' AND datname = current_database()");
  EXPECT_EQ(member.await<Happened::Disconnected>().channel, Channel::renewals);

  member.connections().send(Channel::work, cluster::Join{self, lease});
  member.connections().connect(Channel::renewals);

  EXPECT_EQ(member.await<Happened::Disconnected>().channel, Channel::work);
  EXPECT_EQ(member.await<Happened::Connected>().channel, Channel::renewals);
}

TEST_F(Postgres, new_connection_takes_the_place_of_one_that_waits) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::work);
  const cluster::Taken taken = apply(member);
  owner.run("BEGIN; SELECT FROM dutiful.shard WHERE id = 2 FOR UPDATE");
  member.connections().send(Channel::work, start(taken, 2));

  member.connections().connect(Channel::work);

  (void)member.await<Happened::Connected>();
  owner.run("ROLLBACK");
  (void)member.ask_for<cluster::Looked>(cluster::Join{other, lease});
}

// After a failed statement, also in the middle of a list, nothing has happened and the connection
// goes on.
TEST_F(Postgres, failed_request_leaves_nothing_behind) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::work);
  const cluster::Taken taken = apply(member);
  owner.run("ALTER TABLE dutiful.task ADD CONSTRAINT few CHECK (cron <> '\\x31202a202a202a202a')");

  cluster::Apply next{.member = self, .generation = 1, .print = 2};
  next.list.push_back({.name = "new", .cron = "1 * * * *"});
  member.connections().send(Channel::work, next);
  const auto failed = member.await<Happened::Answered>();

  EXPECT_TRUE(std::holds_alternative<cluster::Failed>(failed.answer));
  EXPECT_THAT(failed.why, HasSubstr("violates check constraint \"few\""));
  EXPECT_EQ(owner.value("SELECT count(*) FROM dutiful.task"), "12");
  EXPECT_TRUE(member.ask_for<cluster::Committed>(start(taken, 0)).refused.empty());
}

// N12: a record that no member can have written.
TEST_F(Postgres, damaged_record_is_told_with_its_task) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::work);
  const cluster::Taken taken = apply(member);
  owner.run(
      "UPDATE dutiful.task SET state = 1, boot_pending = false"
      " WHERE name = convert_to('task 10', 'UTF8')");

  cluster::Take again{self, 1, {}};
  for (const auto& shard : taken.shards) again.shards.push_back({shard.id, shard.epoch});
  member.connections().send(Channel::work, again);
  const auto failed = member.await<Happened::Answered>();

  EXPECT_TRUE(std::holds_alternative<cluster::Failed>(failed.answer));
  EXPECT_THAT(failed.why, HasSubstr("task 10"));
}

// H5, N9: starts count from the database's clock.
TEST_F(Postgres, starts_are_stamped_by_the_clock_of_the_server) {
  MemberInTest member{options_of(database)};
  member.connect(Channel::work);
  const cluster::Taken taken = apply(member);
  const std::string before =
      owner.value("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");

  const auto committed = member.ask_for<cluster::Committed>(start(taken, 1));

  const std::string stamp = std::to_string(committed.clock.time_since_epoch().count());
  EXPECT_EQ(owner.value("SELECT last_attempt FROM dutiful.journal"), stamp);
  EXPECT_EQ(owner.value("SELECT at FROM dutiful.journal"), stamp);
  EXPECT_LE(before, std::to_string(committed.clock.time_since_epoch().count() + 1));
}

}  // namespace
}  // namespace dutiful
