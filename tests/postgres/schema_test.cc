// The tables are made once, and only used if they are ours.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {
namespace {

using cluster::Channel;
using testing::HasSubstr;

class Schema : public testing::Test {
 protected:
  const std::string database = PostgresServer::instance().make_database();
  PlainClient owner{PostgresServer::instance().address(database)};
};

TEST_F(Schema, is_made_on_first_use_and_kept_on_the_second) {
  MemberInTest first{options_of(database)};
  first.connect(Channel::work);
  (void)first.ask(Channel::work, cluster::Join{cluster::MemberId{7}, std::chrono::seconds{2}});

  postgres::Options others = options_of(database);
  others.shards = 9;
  MemberInTest second{others};
  second.connect(Channel::work);
  const auto looked =
      second.ask_for<cluster::Looked>(cluster::Join{cluster::MemberId{8}, std::chrono::seconds{2}});

  EXPECT_EQ(looked.view.members.size(), 2);
  EXPECT_EQ(looked.view.shards.size(), 4) << "the state was made with four";
}

// Whoever comes second waits for the first, and finds its tables.
TEST_F(Schema, is_made_once_by_members_that_come_together) {
  constexpr int members = 6;
  std::vector<std::unique_ptr<MemberInTest>> all;
  for (int i = 0; i < members; ++i) {
    all.push_back(std::make_unique<MemberInTest>(options_of(database)));
  }
  // While this is held, all of them find that there are no tables, and wait to make them.
  owner.run(
      "BEGIN; SELECT pg_advisory_xact_lock("
      "('x' || encode('dutiful', 'hex'))::bit(56)::bigint)");
  for (auto& member : all) member->connections().connect(Channel::renewals);
  for (auto& member : all) member->connections().connect(Channel::work);
  PlainClient watcher{PostgresServer::instance().address(database)};
  while (watcher.value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'"
                       " AND datname = current_database()") != std::to_string(2 * members)) {
    for (auto& member : all) member->advance();
  }
  owner.run("COMMIT");
  for (int connected = 0; connected < 2 * members;) {
    std::vector<pollfd> waiting;
    for (auto& member : all) member->connections().add_to(waiting);
    ASSERT_GT(poll(waiting.data(), waiting.size(), 60'000), 0);
    for (auto& member : all) {
      for (const auto& happening : member->connections().take()) {
        ASSERT_TRUE(std::holds_alternative<cluster::Connections::Connected>(happening));
        ++connected;
      }
    }
  }

  EXPECT_EQ(owner.value("SELECT count(*) FROM dutiful.format"), "1");
  EXPECT_EQ(owner.value("SELECT count(*) FROM dutiful.shard"), "4");
}

TEST_F(Schema, of_a_newer_dutiful_is_refused) {
  MemberInTest{options_of(database)}.connect(Channel::work);
  owner.run("UPDATE dutiful.format SET version = 1000");

  MemberInTest member{options_of(database)};
  const std::string why = member.fail_to_connect();

  EXPECT_THAT(why, HasSubstr("version 1000"));
  EXPECT_THAT(why, HasSubstr("use a newer dutiful or another database"));
}

TEST_F(Schema, of_another_program_is_refused) {
  for (const char* foreign :
       {"CREATE SCHEMA dutiful",
        "CREATE SCHEMA dutiful; CREATE TABLE dutiful.format (other int)",
        "CREATE SCHEMA dutiful; CREATE TABLE dutiful.format (mark text, version int, shards int);"
        " INSERT INTO dutiful.format VALUES ('another', 1, 4)"}) {
    owner.run(foreign);
    MemberInTest member{options_of(database)};
    EXPECT_THAT(member.fail_to_connect(), HasSubstr("belongs to another program")) << foreign;
    EXPECT_EQ(owner.value("SELECT to_regclass('dutiful.shard') IS NULL"), "t") << foreign;
    owner.run("DROP SCHEMA dutiful CASCADE");
  }
}

TEST_F(Schema, needs_rights_and_the_message_names_them) {
  owner.run("CREATE ROLE stranger LOGIN");
  postgres::Options options = options_of(database);
  options.address = PostgresServer::instance().address(database, "stranger");

  const std::string on_first_use = MemberInTest{options}.fail_to_connect();
  MemberInTest{options_of(database)}.connect(Channel::work);
  const std::string on_later_use = MemberInTest{options}.fail_to_connect();
  owner.run(
      "GRANT USAGE ON SCHEMA dutiful TO stranger;"
      "GRANT SELECT ON ALL TABLES IN SCHEMA dutiful TO stranger");
  MemberInTest reader{options};
  reader.connect(Channel::work);
  reader.connections().send(Channel::work,
                            cluster::Join{cluster::MemberId{7}, std::chrono::seconds{2}});
  const auto refused = reader.await<cluster::Connections::Answered>();
  owner.run("DROP OWNED BY stranger; DROP ROLE stranger");

  EXPECT_THAT(on_first_use, HasSubstr("permission denied for database"));
  EXPECT_THAT(on_first_use, HasSubstr("give the user CREATE on the database"));
  EXPECT_THAT(on_later_use, HasSubstr("permission denied for schema dutiful"));
  EXPECT_TRUE(std::holds_alternative<cluster::Failed>(refused.answer));
  EXPECT_THAT(refused.why, HasSubstr("permission denied for table member"));
}

// A session that nobody hears of any more must not keep its locks.
TEST_F(Schema, sessions_are_limited_by_the_lease) {
  postgres::Options options = options_of(database);
  options.lease = std::chrono::seconds{6};
  MemberInTest member{options};
  member.connect(Channel::renewals);
  owner.run("ALTER DATABASE " + database + " SET synchronous_commit = off");
  member.connect(Channel::work);

  // What a session has set can only be seen in it: so it is asked through a function that fails.
  owner.run(
      "CREATE FUNCTION dutiful.tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE"
      " '% % % %', current_setting('statement_timeout'), current_setting('lock_timeout'),"
      " current_setting('idle_in_transaction_session_timeout'),"
      " current_setting('synchronous_commit'); END$$;"
      "CREATE TRIGGER tell BEFORE INSERT ON dutiful.member EXECUTE FUNCTION dutiful.tell()");
  const auto told = [&](Channel channel) {
    member.connections().send(channel, cluster::Join{cluster::MemberId{1}, options.lease});
    return member.await<cluster::Connections::Answered>().why;
  };

  EXPECT_THAT(told(Channel::renewals), HasSubstr("2s 1s 2s on"));
  EXPECT_THAT(told(Channel::work), HasSubstr("6s 3s 6s on"));
  EXPECT_EQ(owner.value("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dutiful'"
                        " AND datname = current_database()"),
            "2");
}

}  // namespace
}  // namespace dutiful
