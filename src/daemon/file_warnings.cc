#include "daemon/file_warnings.h"

#include <new>
#include <utility>

namespace dutiful {

void FileWarnings::begin(const std::vector<TaskDefinition>& tasks, Calendar calendar, Instant now) {
  found_ = 0;
  search_.emplace(tasks, std::move(calendar), now);
}

void FileWarnings::step() {
  if (!search_) return;
  try {
    for (int i = 0; i < tasks_per_step && !search_->is_done(); ++i) search_->step();
    for (const Problem& warning : search_->take()) {
      if (++found_ <= reported_max) sink_.report(warning);
    }
    if (!search_->is_done()) return;
    if (found_ > reported_max) sink_.report_more(found_ - reported_max);
  } catch (const std::bad_alloc&) {
    // The scheduler reports that memory is exhausted.
  }
  end();
}

}  // namespace dutiful
