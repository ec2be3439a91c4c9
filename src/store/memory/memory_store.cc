#include "store/memory/memory_store.h"

namespace dutiful {

MemoryStore::MemoryStore(std::shared_ptr<MemoryState> state) : state_(std::move(state)) {
  if (state_->held)
    throw StateHeldError("the state in memory", "another scheduler of this process");
  state_->held = true;
}

MemoryStore::~MemoryStore() {
  state_->held = false;
}

std::vector<TaskRecord> MemoryStore::load() {
  std::vector<TaskRecord> records;
  records.reserve(state_->rows.size());
  for (const auto& [row, stored] : state_->rows) {
    records.push_back({row, stored.config, stored.progress, state_->scheduler});
  }
  return records;
}

std::vector<std::int64_t> MemoryStore::replace(const Plan& plan, const std::string& scheduler) {
  std::map<std::int64_t, MemoryState::Row> rows;
  std::vector<std::int64_t> numbers;
  numbers.reserve(plan.tasks.size());
  std::int64_t next_row = state_->next_row;
  for (const PlannedTask& task : plan.tasks) {
    numbers.push_back(task.row == PlannedTask::no_row ? next_row++ : task.row);
    rows.emplace(numbers.back(), MemoryState::Row{task.config, task.progress});
  }
  state_->scheduler = scheduler;  // the last that can fail
  state_->rows = std::move(rows);
  state_->next_row = next_row;
  return numbers;
}

void MemoryStore::commit(std::span<const RowUpdate> updates) {
  for (const RowUpdate& update : updates) state_->rows.at(update.row).progress = update.progress;
}

}  // namespace dutiful
