// Faulty victims that must be caught.

#include <algorithm>

#include "faults/beginnings.h"
#include "faults/cases.h"

namespace dutiful::faults {
namespace {

bool is_complained_of(const Verdict& verdict, const std::string& what) {
  return std::ranges::any_of(verdict.complaints, [&](const std::string& complaint) {
    return complaint.find(what) != std::string::npos;
  });
}

// No life makes this many calls.
constexpr Fault never{.at = 1'000'000, .deed = Fault::Deed::kill_before};

// It prints that a run has ended before that is durable.
TEST(Canary, is_caught_if_it_acknowledges_too_early) {
  const auto log = calls_of_next_life({});
  const auto syncs = last_before_traced(log, Kind::sync, "state.db-wal", R"("RunSuccess")");
  ASSERT_FALSE(syncs.empty());
  // The commit of the end, written by the call before that sync.
  const Fault fault{.at = syncs.front() - 1, .deed = Fault::Deed::kill_before};
  EXPECT_TRUE(is_complained_of(suffer({}, fault, "hasty"), "its end is lost"));
  EXPECT_FALSE(is_complained_of(suffer({}, fault, "exit"), "its end is lost"));
}

// It prints that an accepted list was rejected.
TEST(Canary, is_caught_if_a_rejected_list_takes_effect) {
  const Verdict verdict = suffer({}, never, "denying");
  EXPECT_TRUE(is_complained_of(verdict, "the state has the list X, and should have no list") ||
              is_complained_of(verdict, "refused, though a run of it has begun"));
}

// A fault that never strikes has not been tried.
TEST(Canary, is_caught_if_nothing_strikes_it) {
  EXPECT_TRUE(is_complained_of(suffer({}, never, "exit"), "did not strike"));
}

}  // namespace
}  // namespace dutiful::faults
