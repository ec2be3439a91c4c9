#include "store/memory/memory_store.h"

#include <numeric>

namespace dutiful {

MemoryStore::MemoryStore(std::shared_ptr<MemoryState> state) : state_(std::move(state)) {
  if (state_->held)
    throw StateHeldError("the state in memory", "another scheduler of this process");
  state_->held = true;
}

MemoryStore::~MemoryStore() {
  state_->held = false;
}

StoredState MemoryStore::load() {
  StoredState stored{.records = {}, .fence = state_->fence};
  stored.records.reserve(state_->rows.size());
  std::int64_t row = 0;
  for (const MemoryState::Row& task : state_->rows) {
    stored.records.push_back({row++, task.config, task.progress, state_->scheduler, task.account});
  }
  return stored;
}

std::vector<std::int64_t> MemoryStore::replace(const Plan& plan, const std::string& scheduler) {
  std::vector<MemoryState::Row> rows;
  rows.reserve(plan.tasks.size());
  for (const PlannedTask& task : plan.tasks) {
    rows.push_back({task.config, task.progress, task.account, {}});
    if (task.row == PlannedTask::no_row || task.forgets_account) continue;
    rows.back().stretches = state_->rows.at(static_cast<std::size_t>(task.row)).stretches;
  }
  std::vector<std::int64_t> numbers(rows.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  state_->scheduler = scheduler;  // nothing below can fail
  state_->rows = std::move(rows);
  state_->fence = plan.fence;
  return numbers;
}

void MemoryStore::commit(std::span<const RowUpdate> updates) {
  for (const RowUpdate& update : updates) {
    MemoryState::Row& row = state_->rows.at(static_cast<std::size_t>(update.row));
    row.progress = update.progress;
    if (update.account != nullptr) row.account = *update.account;
    for (const AccountStretch& closed : update.closed) {
      row.stretches.insert_or_assign(closed.sums.number, closed);
      row.stretches.erase(closed.sums.number - stretches_kept);
    }
  }
}

}  // namespace dutiful
