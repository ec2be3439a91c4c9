// What the virtual database does not keep: the stretches of accounts that have ended, and the
// journal.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {
namespace {

using cluster::Channel;
using cluster::MemberId;
using testing::ElementsAre;

constexpr MemberId self{5};
constexpr Instant noon =
    std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + std::chrono::hours{12};

class Journal : public testing::Test {
 protected:
  Journal() {
    postgres::Options options = options_of(database);
    options.shards = 1;
    options.clock = [this] { return clock; };
    options.fold_after = 3;
    options.history = std::chrono::hours{1};
    member.emplace(options);
    member->connect(Channel::work);
    (void)member->ask(Channel::work, cluster::Join{self, options.lease});
    shard = apply({"a", "b"}).shards.front();
  }

  cluster::Taken apply(const std::vector<std::string>& names) {
    cluster::Apply apply{.member = self, .generation = generation, .print = ++generation};
    for (const std::string& name : names) {
      apply.list.push_back({.name = name, .cron = "* * * * *"});
    }
    cluster::Taken taken = member->ask_for<cluster::Taken>(apply);
    shard = taken.shards.front();
    return taken;
  }

  cluster::Taken take_again() {
    cluster::Taken taken =
        member->ask_for<cluster::Taken>(cluster::Take{self, generation, {{shard.id, shard.epoch}}});
    shard = taken.shards.front();
    return taken;
  }

  // Records the start of a task, with what it adds to its account.
  void start(const std::string& task,
             std::optional<Account> account = {},
             std::vector<AccountStretch> closed = {}) {
    TaskProgress progress{.state = TaskState::running,
                          .attempt = 1,
                          .fence = ++shard.fence,
                          .pulse = noon,
                          .first_coming = noon,
                          .served_until = noon,
                          .last_attempt = noon};
    const cluster::Commit commit{.member = self,
                                 .shards = {{.id = shard.id,
                                             .epoch = shard.epoch,
                                             .fence = shard.fence,
                                             .tasks = {{.run = {task, shard.fence},
                                                        .progress = progress,
                                                        .runner = self,
                                                        .started = Reason::cron,
                                                        .account = account,
                                                        .closed = std::move(closed)}}}}};
    EXPECT_TRUE(member->ask_for<cluster::Committed>(commit).refused.empty());
  }

  static Account account_of_day(std::int64_t number) {
    return {.from = noon + std::chrono::days{number},
            .number = number,
            .fates = {.run = 10 + number},
            .recurred = 2};
  }
  static AccountStretch closed_day(std::int64_t number) {
    return {account_of_day(number), noon + std::chrono::days{number + 1}};
  }

  std::vector<std::string> stretches() {
    return reader.rows(
        "SELECT convert_from(task, 'UTF8'), number, account[3], until"
        " FROM dutiful.stretch ORDER BY task, number");
  }

  const std::string database = PostgresServer::instance().make_database();
  PlainClient reader{PostgresServer::instance().address(database)};
  Instant clock = noon;
  cluster::Generation generation = 0;
  std::optional<MemberInTest> member;
  cluster::Taken::Shard shard;
};

TEST_F(Journal, accounts_outlast_entries_that_do_not_name_them) {
  for (int i = 0; i < 8; ++i) {  // across several folds
    start("a", account_of_day(i));
    start("b");
    const cluster::Taken taken = take_again();
    EXPECT_EQ(taken.records[0].account, account_of_day(i));
    EXPECT_EQ(taken.records[1].account, (Account{.from = noon}));
  }
}

TEST_F(Journal, ended_stretches_of_accounts_are_kept_and_the_oldest_forgotten) {
  start("a", account_of_day(1), {closed_day(0)});
  start("b", account_of_day(2), {closed_day(0), closed_day(1)});
  EXPECT_THAT(stretches(),
              ElementsAre("a|0|10|1772452800000", "b|0|10|1772452800000", "b|1|11|1772539200000"));

  start("b", account_of_day(stretches_kept + 1), {closed_day(stretches_kept)});
  EXPECT_EQ(reader.value("SELECT min(number) FROM dutiful.stretch"
                         " WHERE task = convert_to('b', 'UTF8')"),
            "1");
}

// P2: what continues keeps its account, what is removed is forgotten.
TEST_F(Journal, accounts_of_tasks_outlast_a_list) {
  start("a", account_of_day(1), {closed_day(0)});
  start("b", account_of_day(1), {closed_day(0)});
  (void)member->ask(Channel::work,
                    cluster::Post{self, {{.run = {"b", shard.fence}, .result = {}}}});

  const cluster::Taken taken = apply({"a", "c"});

  ASSERT_EQ(taken.records.size(), 2);
  EXPECT_EQ(taken.records[0].account, account_of_day(1));
  EXPECT_THAT(stretches(), ElementsAre("a|0|10|1772452800000"));
}

TEST_F(Journal, stale_writer_changes_no_stretch) {
  const cluster::Taken::Shard stale = shard;
  (void)take_again();
  const cluster::Commit commit{
      .member = self,
      .shards = {
          {.id = stale.id,
           .epoch = stale.epoch,
           .fence = 1,
           .tasks = {
               {.run = {"a", 1}, .progress = {}, .forget = true, .closed = {closed_day(0)}}}}}};
  EXPECT_THAT(member->ask_for<cluster::Committed>(commit).refused, ElementsAre(stale.id));
  EXPECT_THAT(stretches(), ElementsAre());
  EXPECT_EQ(reader.value("SELECT count(*) FROM dutiful.task"), "2");
}

TEST_F(Journal, keeps_every_start_for_as_long_as_its_history) {
  for (int i = 0; i < 20; ++i) start("a");
  EXPECT_EQ(reader.value("SELECT count(*) FROM dutiful.journal"), "20");

  clock += std::chrono::hours{2};
  for (int i = 0; i < 20; ++i) start("a");

  EXPECT_EQ(reader.value("SELECT count(*) FROM dutiful.journal WHERE at = " +
                         std::to_string(noon.time_since_epoch().count())),
            "0");
  EXPECT_EQ(reader.value("SELECT count(*) FROM dutiful.journal"), "20");
  EXPECT_EQ(take_again().records[0].progress.fence, 40);
}

}  // namespace
}  // namespace dutiful
