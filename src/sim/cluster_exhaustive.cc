#include "sim/cluster_exhaustive.h"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "sim/cluster_walk.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// N6, for the restart of what ran on a member that died. Everything else is faster.
constexpr Duration settles_max = ClusterWalk::lease + 2s;

// In the order of ClusterStep::Kind.
constexpr std::array<std::string_view, 9> fault_names{"crash",
                                                      "pause",
                                                      "break",
                                                      "slow",
                                                      "lost_notification",
                                                      "failing_commit",
                                                      "change_list",
                                                      "stop",
                                                      "late_commit"};
static_assert(fault_names.size() ==
              ClusterStep::kinds - static_cast<std::size_t>(ClusterStep::first_fault));

std::set<ClusterStep::Kind> kinds_of(std::string_view names) {
  const auto kind_of = [](std::size_t number) {
    return static_cast<ClusterStep::Kind>(static_cast<std::size_t>(ClusterStep::first_fault) +
                                          number);
  };
  std::set<ClusterStep::Kind> kinds;
  if (names.empty()) {
    for (std::size_t i = 0; i < fault_names.size(); ++i) kinds.insert(kind_of(i));
    kinds.erase(ClusterStep::Kind::breaks_commit);  // a part of `breaks`
  }
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    const auto place = std::ranges::find(fault_names, name);
    if (place == fault_names.end()) {
      throw std::invalid_argument{"no such kind of fault: " + std::string{name}};
    }
    kinds.insert(kind_of(static_cast<std::size_t>(place - fault_names.begin())));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  return kinds;
}

// A search in depth. The first step from a state is what happens if nothing goes wrong, so the
// first steps lead from every state to one that is settled, or in a circle (N2, N4, N6).
class Search {
 public:
  Search(const ExhaustiveCluster& options, int faults, ExhaustedCluster& result)
      : options_(options), kinds_(kinds_of(options.kinds)), faults_(faults), result_(result) {}

  // Whether everything was tried.
  bool run() {
    ClusterWalk first;
    Duration& settles = seen_[first.digest()] = unknown;
    if (!enter(std::move(first), 0, settles)) return false;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.steps.size()) {
        if (*frame.settles == unknown) return refute(stuck(frame));
        stack_.pop_back();
        continue;
      }
      if (++result_.steps % 1024 == 0 && !options_.proceed(faults_, result_.states)) return false;
      const ClusterStep step = frame.steps[frame.next++];
      ClusterWalk walk = frame.walk;
      walk.take(step);
      if (walk.violation()) return refute(*walk.violation());
      const bool is_first = frame.next == 1;
      const auto [known, is_new] = seen_.try_emplace(walk.digest(), unknown);
      if (is_new) {
        const int faults = frame.faults + (step.is_fault() ? 1 : 0);
        if (!enter(std::move(walk), faults, known->second)) return false;
      } else if (is_first && *frame.settles == unknown) {
        if (known->second == unknown) return refute(stuck(frame));
        if (!settle(known->second, walk.now())) return false;
      }
    }
    return true;
  }

 private:
  static constexpr Duration unknown{-1};

  struct Frame {
    ClusterWalk walk;
    std::vector<ClusterStep> steps;
    std::size_t next = 0;
    int faults = 0;
    Duration* settles = nullptr;  // in seen_
  };

  static theory::Violation stuck(const Frame& frame) {
    return {"N2", 0, frame.walk.now(), "nothing more happens, and the cluster has not settled"};
  }

  // Returns false if that shows a violation; the same holds for settle().
  bool enter(ClusterWalk walk, int faults, Duration& settles) {
    ++result_.states;
    std::vector<ClusterStep> steps = walk.steps();
    std::erase_if(steps, [&](const ClusterStep& step) {
      return step.is_fault() && (faults == faults_ || !kinds_.contains(step.kind) ||
                                 !walk.is_allowed(step, options_.repeats));
    });
    const bool is_settled = walk.is_settled();
    const Instant now = walk.now();
    stack_.push_back({std::move(walk), std::move(steps), 0, faults, &settles});
    return !is_settled || settle(0ms, now);
  }

  // The newest state is settled so long after this instant, and so are those that lead to it by
  // first steps.
  bool settle(Duration settles, Instant at) {
    for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
      Duration& known = *frame->settles;
      if (known != unknown) break;
      settles += at - frame->walk.now();
      at = frame->walk.now();
      known = settles;
      result_.settles = std::max(result_.settles, settles);
      if (settles > settles_max) {
        stack_.erase(frame.base(), stack_.end());
        return refute({"N6",
                       0,
                       at,
                       "it takes " + std::to_string(settles.count()) + " ms until a has been run"});
      }
    }
    return true;
  }

  bool refute(theory::Violation violation) {
    result_.violation = std::move(violation);
    for (const Frame& frame : stack_) {
      if (frame.next == 0) break;
      const ClusterStep& step = frame.steps[frame.next - 1];
      result_.counterexample.push_back(format_utc(frame.walk.now()) +
                                       (frame.next == 1 ? "   " : " * ") + frame.walk.text(step));
    }
    return false;
  }

  const ExhaustiveCluster& options_;
  std::set<ClusterStep::Kind> kinds_;  // of faults
  int faults_;
  ExhaustedCluster& result_;
  std::unordered_map<std::uint64_t, Duration> seen_;  // and how long they take to settle
  std::vector<Frame> stack_;
};

}  // namespace

ExhaustedCluster search(const ExhaustiveCluster& options) {
  ExhaustedCluster result;
  while (result.faults < options.faults_max) {
    ExhaustedCluster next{.faults = result.faults, .searched = result.faults + 1};
    const bool is_finished = Search{options, result.faults + 1, next}.run();
    result = std::move(next);
    if (!is_finished) break;
    ++result.faults;
  }
  return result;
}

}  // namespace dutiful
