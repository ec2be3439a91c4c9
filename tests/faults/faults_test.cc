// Every call of a scheduler on the files of its state, and everything that may go wrong with it:
// the process dies before, within or after it; the call fails, once or for good; it does half. In
// every case, nothing acknowledged is lost, nothing rejected takes effect, and the next life
// continues where this one ended.

#include <cerrno>
#include <iostream>
#include <set>

#include "faults/beginnings.h"
#include "faults/cases.h"

namespace dutiful::faults {
namespace {

using Deed = Fault::Deed;
using Scope = Fault::Scope;

class Faults : public Lives {
 protected:
  void try_all(Family family, std::size_t sample_size) {
    std::vector<Fault> faults = faults_of(family, log);
    const std::size_t possible = faults.size();
    if (!takes_all()) faults = sample(faults, log, sample_size, 20250303);
    for (const Fault& fault : faults) try_one(fault);
    EXPECT_GT(tried_, 0U);
    std::cout << tried_ << " of " << possible << " faults in a life of " << calls() << " calls; "
              << refused_ << " times it was refused\n";
  }

  void try_one(const Fault& fault) {
    const std::string name = to_text(fault);
    if (is_left_out(name)) return;
    ++tried_;
    const Verdict verdict = suffer(past, fault, "exit");
    report(name, verdict);
    if (!verdict.refused) return;
    ++refused_;
    // A rejected list must not take effect even if there was no time to clean up.
    report(name, suffer(past, fault, "die"));
    // A list rejected because of a temporary error is accepted the next time.
    if (fault.scope == Scope::once) report(name, suffer(past, fault, "again"));
  }

 private:
  std::size_t tried_ = 0;
  std::size_t refused_ = 0;
};
INSTANTIATE_TEST_SUITE_P(, Faults, beginnings(), name_of_beginning);

std::vector<std::string> names_of_calls(const std::vector<LoggedCall>& log) {
  std::vector<std::string> names;
  for (const LoggedCall& logged : log) {
    if (logged.call.kind == Kind::said) continue;
    names.push_back(std::string{name_of(logged.call.kind)} + ' ' + logged.call.file);
  }
  return names;
}

// So a number means the same call in every life, and a failure can be replayed.
TEST_P(Faults, strike_at_calls_that_every_life_makes) {
  EXPECT_EQ(names_of_calls(calls_of_next_life(past)), names_of_calls(log));
}

// Programs and libraries sometimes switch to other functions for the same call.
TEST_P(Faults, strike_at_every_kind_of_call) {
  const auto names = names_of_calls(log);
  const std::set<std::string> seen{names.begin(), names.end()};
  for (const char* name : {"lock state.db-owner",
                           "truncate state.db-owner",
                           "write state.db-owner",
                           "read state.db",
                           "write state.db",
                           "sync state.db",
                           "lock state.db",
                           "unlock state.db",
                           "read state.db-wal",
                           "write state.db-wal",
                           "sync state.db-wal",
                           "unlink state.db-wal",
                           "close state.db-wal",
                           "lock state.db-shm",
                           "unlock state.db-shm",
                           "sync .",
                           "lock trace.jsonl",
                           "write trace.jsonl"}) {
    EXPECT_TRUE(seen.contains(name)) << name;
  }
  const bool first = past.lives.empty();
  for (const char* name : {"create state.db", "create state.db-wal", "create trace.jsonl"}) {
    EXPECT_EQ(seen.contains(name), first) << name;
  }
  for (const char* name : {"open state.db-wal", "read trace.jsonl"}) {
    EXPECT_EQ(seen.contains(name), !first) << name;
  }
}

// RULES P1, P4, P5, P8
TEST_P(Faults, that_kill_lose_nothing) {
  try_all(Family::kill, 50);
}

// RULES P4, X3
TEST_P(Faults, that_pass_are_survived) {
  try_all(Family::once, 50);
}

// RULES P1, P4, X3
TEST_P(Faults, that_persist_lose_nothing) {
  try_all(Family::keep, 50);
}

// RULES I2, P4: the sync that makes a list durable fails after SQLite has written it.
TEST_P(Faults, of_a_commit_keep_the_previous_list) {
  const auto syncs = last_before_traced(log, Kind::sync, "state.db-wal", R"("InitSuccess")");
  ASSERT_EQ(syncs.size(), past.lives.empty() ? 3 : 1);
  for (const std::uint64_t sync : syncs) {
    for (const Scope scope : {Scope::once, Scope::file, Scope::disk}) {
      try_one({.at = sync, .deed = Deed::fail, .scope = scope, .error = EIO});
    }
  }
}

}  // namespace
}  // namespace dutiful::faults
