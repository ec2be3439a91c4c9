// The counters of each task that has series of its own, and of all other tasks together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <dutiful/run.h>

#include "account/fates.h"
#include "metrics/histogram.h"
#include "sync/mutex.h"
#include "sync/published.h"

namespace dutiful {

struct TaskCounts {
  static constexpr std::size_t reasons = 4;  // of Reason
  struct RunsByReason : std::array<std::uint64_t, reasons> {
    std::uint64_t& of(Reason reason) { return (*this)[static_cast<std::size_t>(reason)]; }
  };

  RunsByReason successes{};  // runs that have ended
  RunsByReason failures{};
  PulseFates pulses{};
  std::uint64_t retries = 0;
  std::uint64_t orphans = 0;
  DurationSum duration{};
  DurationSum lateness{};
};

// The name of a task and its label.
struct TaskIdentity {
  std::string name;
  std::string label;
};

// Which tasks have series: the first `max` that are listed, until they are removed. A task that is
// listed again later may take the place of one that was removed. So a list in the order of the
// names always gives the same result, a task that has series keeps them, and memory does not grow
// with the number of tasks that have ever existed.
//
// One thread at a time may list, remove and count, and any thread may copy. Counting never waits.
class TaskSeries {
 public:
  explicit TaskSeries(std::size_t max) : max_(max) {}

  // The task is in the list. If memory runs out, it throws, and the task has no series.
  void list(const std::string& task);
  // The task is no longer in the list. What it counted is forgotten.
  void remove(const std::string& task) noexcept;

  // Changes the counts of the task, or of all tasks without series together.
  template <typename Change>
  void count(const std::string& task, Change change) {
    const auto found = by_name_.find(task);
    (found == by_name_.end() ? others_ : found->second->counts).update(change);
  }

  struct Copy {
    std::shared_ptr<const TaskIdentity> task;
    TaskCounts counts;
  };
  // The tasks with series, in the order of their labels, no two of which are the same.
  [[nodiscard]] std::vector<Copy> copy() const;
  [[nodiscard]] TaskCounts copy_others() const { return others_.read(); }

 private:
  struct Series {
    TaskIdentity task;
    std::size_t place = 0;  // in shown_
    Published<TaskCounts> counts{};
  };

  const std::size_t max_;
  std::unordered_map<std::string_view, std::shared_ptr<Series>> by_name_;
  std::unordered_set<std::string_view> labels_;
  Published<TaskCounts> others_;

  mutable Mutex mutex_;
  std::vector<std::shared_ptr<Series>> shown_ GUARDED_BY(mutex_);  // those of by_name_
};

}  // namespace dutiful
