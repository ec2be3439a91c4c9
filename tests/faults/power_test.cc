// The power is cut after any call, and the disk keeps an arbitrary part of what was not synced
// (disk.h). Nothing acknowledged is lost.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <random>

#include "faults/beginnings.h"

namespace dutiful::faults {
namespace {

using Kept = Disk::Kept;

struct Cut {
  std::uint64_t call;  // after the call with this number
  std::size_t after;   // after this many entries of the log
  Kept kept;
  std::uint32_t seed;

  [[nodiscard]] std::string text() const {
    static constexpr std::array<const char*, 4> names{
        "nothing", "everything", "beginning", "sectors"};
    return "cut " + std::to_string(call) + ' ' + names.at(static_cast<std::size_t>(kept)) + ' ' +
           std::to_string(seed);
  }
};

bool changes_something(const LoggedCall& logged) {
  switch (logged.call.kind) {
    case Kind::create:
    case Kind::write:
    case Kind::truncate:
    case Kind::sync:
    case Kind::unlink:
    case Kind::rename:
      return true;
    default:
      return false;
  }
}

// After every change, as late as possible: just before the next change, when everything in between
// has been printed.
std::vector<Cut> cuts_of(const std::vector<LoggedCall>& log, std::uint32_t seeds) {
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < log.size(); ++i) {
    if (!changes_something(log[i])) continue;
    const std::uint64_t call = log[i].number;
    std::size_t after = i + 1;
    while (after < log.size() && !changes_something(log[after])) ++after;
    cuts.push_back({call, after, Kept::nothing, 0});
    cuts.push_back({call, after, Kept::everything, 0});
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      cuts.push_back({call, after, Kept::beginning, seed});
      cuts.push_back({call, after, Kept::sectors, seed});
    }
  }
  return cuts;
}

std::vector<Cut> sample(std::vector<Cut> cuts, std::size_t count) {
  std::mt19937 random{20250303};
  for (std::size_t i = cuts.size(); i > 1; --i) std::swap(cuts[i - 1], cuts[random() % i]);
  cuts.resize(std::min(cuts.size(), count));
  return cuts;
}

class PowerCuts : public Lives {
 protected:
  void try_all(TraceLies trace, std::size_t sample_size) {
    std::vector<Cut> cuts = cuts_of(log, 6);
    const std::size_t possible = cuts.size();
    if (!takes_all()) cuts = sample(std::move(cuts), sample_size);
    std::size_t tried = 0;
    for (const Cut& cut : cuts) {
      if (is_left_out(cut.text())) continue;
      ++tried;
      report(cut.text(), cut_power(past, log, cut.after, cut.kept, cut.seed, trace));
    }
    EXPECT_GT(tried, 0U);
    std::cout << tried << " of " << possible << " power cuts in a life of " << calls()
              << " calls\n";
  }
};
INSTANTIATE_TEST_SUITE_P(, PowerCuts, beginnings(), name_of_beginning);

// RULES P1, P4, P8. The trace lies on a disk that loses nothing, so both lives can be judged by it.
TEST_P(PowerCuts, lose_nothing) {
  try_all(TraceLies::elsewhere, 50);
}

// The trace is not synced, so it may lack its end or have holes. Then it is set aside, and nothing
// else is affected.
TEST_P(PowerCuts, may_tear_the_trace_alone) {
  try_all(TraceLies::here, 30);
}

// Canaries: disks that report a sync they have not done.
class LyingDisks : public Lives {
 protected:
  // Whether any power cut leads to a complaint if these syncs are not made.
  [[nodiscard]] bool is_caught_without_syncs_of(const std::string& file) const {
    std::vector<LoggedCall> lied = log;
    std::erase_if(lied, [&](const LoggedCall& logged) {
      return logged.call.kind == Kind::sync && logged.call.file == file;
    });
    const std::vector<Cut> cuts = sample(cuts_of(lied, 1), lied.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const auto& [call, after, kept, seed] = cuts[i];
      if (cut_power(past, lied, after, kept, seed).complaints.empty()) continue;
      std::cout << "caught by power cut " << i + 1 << '\n';
      return true;
    }
    return false;
  }
};
INSTANTIATE_TEST_SUITE_P(,
                         LyingDisks,
                         testing::Values(Beginning{"in_a_first_life", nothing}),
                         name_of_beginning);

TEST_P(LyingDisks, are_caught_if_they_do_not_sync_the_log) {
  EXPECT_TRUE(is_caught_without_syncs_of("state.db-wal"));
}
TEST_P(LyingDisks, are_caught_if_they_do_not_sync_the_database) {
  EXPECT_TRUE(is_caught_without_syncs_of("state.db"));
}
TEST_P(LyingDisks, are_caught_if_they_do_not_sync_the_directory) {
  EXPECT_TRUE(is_caught_without_syncs_of(std::string{the_directory}));
}

}  // namespace
}  // namespace dutiful::faults
