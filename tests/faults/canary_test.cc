// Victims that are not to be relied on, which have to be caught.

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

// So many calls are not made.
constexpr Fault never{.at = 1'000'000, .deed = Fault::Deed::kill_before};

// It says that a run has ended before that is durable.
TEST(Canary, is_caught_if_it_acknowledges_too_early) {
  const auto log = calls_of_next_life({});
  const auto syncs = last_before_traced(log, Kind::sync, "state.db-wal", R"("RunSuccess")");
  ASSERT_FALSE(syncs.empty());
  // The commit of the end, which the call before that sync writes.
  const Fault fault{.at = syncs.front() - 1, .deed = Fault::Deed::kill_before};
  EXPECT_TRUE(is_complained_of(suffer({}, fault, "hasty"), "its end is lost"));
  EXPECT_FALSE(is_complained_of(suffer({}, fault, "exit"), "its end is lost"));
}

// It says that a list was refused which was accepted.
TEST(Canary, is_caught_if_what_was_refused_takes_effect) {
  const Verdict verdict = suffer({}, never, "denying");
  EXPECT_TRUE(is_complained_of(verdict, "the state has the list X, and should have no list") ||
              is_complained_of(verdict, "refused, though a run of it has begun"));
}

// A fault of which nothing is seen has not been tried.
TEST(Canary, is_caught_if_nothing_strikes_it) {
  EXPECT_TRUE(is_complained_of(suffer({}, never, "exit"), "did not strike"));
}

}  // namespace
}  // namespace dutiful::faults
