// The runs of a task that a trace has lost sight of, and the starts that followed them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dutiful/time.h>

#include "trace/event.h"

namespace dutiful::theory {

// For the axiom N5. A crash that another member declares says that a run is over; when it really
// was over only its own member knows, and may say so much later, when the task runs elsewhere.
//
// Only the newest few runs of a task are kept.
class EarlierRuns {
 public:
  struct Start {
    std::string member;
    Instant at;
  };
  struct Run {
    Start start;
    Fence fence;
    bool interrupted;             // otherwise the task was started beside it
    bool over = false;            // its own member has said that it is over
    std::optional<Start> next{};  // the first start after it that began a run
  };

  // A run that is not identified by a member or a fence is not kept, because no later event could
  // be about it.
  void add(Run run) {
    if (!run.fence && run.start.member.empty()) return;
    if (runs_.size() == runs_max) runs_.erase(runs_.begin());
    runs_.push_back(std::move(run));
  }

  // The task was started again.
  void followed_by(std::string_view member, Instant at) {
    for (Run& run : runs_) {
      if (!run.next) run.next = Start{std::string{member}, at};
    }
  }
  // That start began no run.
  void not_followed_by(std::string_view member, Instant at) {
    for (Run& run : runs_) {
      if (run.next && run.next->at == at && run.next->member == member) run.next.reset();
    }
  }

  // The run with that fence or, without one, the newest on that member; null if there is none.
  [[nodiscard]] Run* find(Fence fence, std::string_view member) {
    const auto found = std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& run) {
      return fence ? run.fence == fence : run.start.member == member;
    });
    return found == runs_.rend() ? nullptr : &*found;
  }

  // The run has been judged. Requires that it is one of these.
  void erase(const Run& run) { runs_.erase(runs_.begin() + (&run - runs_.data())); }

  [[nodiscard]] std::uint64_t digest(Instant now, Duration horizon) const {
    std::uint64_t digest = 0;
    const auto add = [&digest](std::uint64_t value) { digest = digest * 1'000'003 + value; };
    const auto add_start = [&](const Start& start) {
      add(std::hash<std::string>{}(start.member));
      add(static_cast<std::uint64_t>(std::max(start.at - now, -horizon).count()));
    };
    for (const Run& run : runs_) {
      add_start(run.start);
      add((run.interrupted ? 1U : 0U) + (run.over ? 2U : 0U));
      if (run.next) add_start(*run.next);
    }
    return digest;
  }

 private:
  static constexpr std::size_t runs_max = 4;

  std::vector<Run> runs_;  // the oldest first
};

}  // namespace dutiful::theory
