#include "metrics/task_series.h"

#include <algorithm>
#include <utility>

#include "core/make_room.h"
#include "metrics/label.h"

namespace dutiful {

void TaskSeries::list(const std::string& task) {
  if (by_name_.size() == max_ || by_name_.contains(task)) return;
  auto series = std::make_shared<Series>();
  series->task = {.name = task, .label = label("task", task)};
  const auto [same, is_new] = labels_.insert(series->task.label);
  if (!is_new) return;
  try {
    by_name_.emplace(series->task.name, series);
    const Lock lock{mutex_};
    make_room(shown_);
    series->place = shown_.size();
    shown_.push_back(std::move(series));
  } catch (...) {
    by_name_.erase(task);
    labels_.erase(same);
    throw;
  }
}

void TaskSeries::remove(const std::string& task) noexcept {
  const auto found = by_name_.find(task);
  if (found == by_name_.end()) return;
  const std::shared_ptr<Series> removed = found->second;  // its texts are the keys
  by_name_.erase(found);
  labels_.erase(removed->task.label);
  const Lock lock{mutex_};
  shown_.back()->place = removed->place;
  std::swap(shown_[removed->place], shown_.back());
  shown_.pop_back();
}

std::vector<TaskSeries::Copy> TaskSeries::copy() const {
  std::vector<std::shared_ptr<Series>> all;
  {
    const Lock lock{mutex_};
    all = shown_;
  }
  std::ranges::sort(
      all, {}, [](const auto& series) -> const std::string& { return series->task.label; });
  std::vector<Copy> copies;
  copies.reserve(all.size());
  for (const auto& series : all) {
    copies.push_back({{series, &series->task}, series->counts.read()});
  }
  return copies;
}

}  // namespace dutiful
