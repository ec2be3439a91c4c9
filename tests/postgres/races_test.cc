// Members that ask at the same time. Whatever order their transactions come in, an epoch belongs to
// one of them, and only that one records under it (N2, N4).

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "postgres/member_in_test.h"
#include "postgres/plain_client.h"

namespace dutiful {
namespace {

using cluster::Channel;
using cluster::MemberId;

// What must be given to one member only.
struct Ledger {
  std::set<std::pair<cluster::ShardId, cluster::Epoch>> epochs;
  std::set<cluster::Generation> generations;
  int commits = 0;
  int refusals = 0;
  int deaths = 0;
};

// Asks at random, by what it was last shown.
class Racer {
 public:
  Racer(const postgres::Options& options, unsigned seed, Ledger& ledger)
      : member_(options), random_(seed), ledger_(ledger) {
    member_.connect(Channel::work);
    send(cluster::Join{id_ = new_id(), options.lease});
  }

  MemberInTest& member() { return member_; }

  // Takes the answer, if there is one, and asks again.
  void go_on() {
    for (auto& happening : member_.connections().take()) {
      auto& answered = std::get<cluster::Connections::Answered>(happening);
      ASSERT_EQ(answered.why, "");
      std::visit([this](const auto& answer) { heed(answer); }, answered.answer);
      sent_.reset();
    }
  }
  [[nodiscard]] bool is_idle() const { return !sent_; }

  void ask() { send(next()); }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  MemberId new_id() { return MemberId{(std::uint64_t{random_()} << 32U) | random_()}; }

  void send(cluster::Request request) {
    sent_ = request;
    member_.connections().send(Channel::work, std::move(request));
  }

  cluster::Request next() {
    if (must_join_) {
      must_join_ = false;
      return cluster::Join{id_ = new_id(), std::chrono::seconds{10}};
    }
    switch (below(12)) {
      case 0:
        return cluster::Renew{id_, below(2) == 0};
      case 1:
        if (view_.members.empty()) return cluster::Renew{id_, true};
        if (const auto& other = view_.members[below(view_.members.size())]; other.id != id_) {
          return cluster::Declare{id_, other.id, other.renewals};
        }
        [[fallthrough]];
      case 2:
      case 3:
      case 4: {
        cluster::Take take{id_, view_.generation, {}};
        for (cluster::ShardId id = 0; id < view_.shards.size(); ++id) {
          if (below(2) == 0) take.shards.push_back({id, view_.shards[id].epoch});
        }
        std::ranges::shuffle(take.shards, random_);  // the locks are in order all the same
        return take;
      }
      case 5: {
        cluster::Release release{id_, {}};
        if (!held_.empty()) release.shards.push_back({held_.back().id, held_.back().epoch});
        return release;
      }
      case 6:
        return cluster::Post{id_, {{.run = {"b", below(5)}}, {.run = {"a", below(5)}}}};
      case 7: {
        cluster::Apply apply{.member = id_, .generation = view_.generation, .print = random_()};
        for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
          apply.list.push_back({.name = name, .cron = "* * * * *"});
        }
        return apply;
      }
      case 8:
        if (below(3) == 0) return cluster::Leave{id_};
        [[fallthrough]];
      default:
        return commit();
    }
  }

  cluster::Request commit() {
    cluster::Commit commit{id_, {}};
    for (cluster::Taken::Shard& shard : held_) {
      cluster::Commit::Shard written{.id = shard.id, .epoch = shard.epoch, .fence = ++shard.fence};
      for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
        if (cluster::shard_of(name, view_.shards.size()) != shard.id) continue;
        written.tasks.push_back({.run = {name, shard.fence},
                                 .progress = {.attempt = 1,
                                              .fence = shard.fence,
                                              .pulse = view_.clock,
                                              .first_coming = view_.clock,
                                              .served_until = view_.clock,
                                              .last_attempt = view_.clock}});
      }
      commit.shards.push_back(written);
    }
    std::ranges::shuffle(commit.shards, random_);
    return commit;
  }

  void heed(const cluster::Dead& /*dead*/) {
    must_join_ = true;
    held_.clear();
  }
  void heed(const cluster::Failed& /*failed*/) { ADD_FAILURE() << "request " << sent_->index(); }
  void heed(const cluster::Looked& looked) {
    view_ = looked.view;
    if (std::holds_alternative<cluster::Declare>(*sent_)) ++ledger_.deaths;
  }
  void heed(const cluster::Taken& taken) {
    view_ = taken.view;
    if (std::holds_alternative<cluster::Apply>(*sent_)) {
      EXPECT_TRUE(ledger_.generations.insert(view_.generation).second);
      held_.clear();
    }
    for (const cluster::Taken::Shard& shard : taken.shards) {
      EXPECT_TRUE(ledger_.epochs.emplace(shard.id, shard.epoch).second)
          << "shard " << shard.id << " was taken twice under epoch " << shard.epoch;
      std::erase_if(held_, [&](const auto& held) { return held.id == shard.id; });
      held_.push_back(shard);
    }
  }
  void heed(const cluster::Committed& committed) {
    ++ledger_.commits;
    for (const cluster::ShardId refused : committed.refused) {
      ++ledger_.refusals;
      std::erase_if(held_, [&](const auto& held) { return held.id == refused; });
    }
  }
  void heed(const cluster::Done& /*done*/) {
    if (std::holds_alternative<cluster::Leave>(*sent_)) must_join_ = true;
  }

  MemberInTest member_;
  std::mt19937 random_;
  Ledger& ledger_;
  MemberId id_{};
  bool must_join_ = false;
  cluster::View view_{};
  std::vector<cluster::Taken::Shard> held_;
  std::optional<cluster::Request> sent_;
};

TEST(Races, give_each_epoch_and_each_list_to_one_member) {
  const std::string database = PostgresServer::instance().make_database();
  Ledger ledger;
  std::vector<std::unique_ptr<Racer>> racers;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    racers.push_back(std::make_unique<Racer>(options_of(database), seed, ledger));
  }

  for (int asked = 0; asked < 4000;) {
    for (auto& racer : racers) {
      racer->go_on();
      if (HasFatalFailure()) return;
      if (!racer->is_idle()) continue;
      racer->ask();
      ++asked;
    }
    std::vector<pollfd> waiting;
    for (auto& racer : racers) racer->member().connections().add_to(waiting);
    ASSERT_GT(poll(waiting.data(), waiting.size(), 60'000), 0);
  }

  // Two members that passed one fence would have written the same number.
  PlainClient reader{PostgresServer::instance().address(database)};
  EXPECT_EQ(reader.value("SELECT count(*) FROM (SELECT task, fence FROM dutiful.journal"
                         " GROUP BY task, fence HAVING count(*) > 1) twice"),
            "0");
  EXPECT_GT(ledger.commits, 500);
  EXPECT_GT(ledger.refusals, 50);
  EXPECT_GT(ledger.deaths, 50);
  EXPECT_GT(ledger.generations.size(), 20);
}

}  // namespace
}  // namespace dutiful
