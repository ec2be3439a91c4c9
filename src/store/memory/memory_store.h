// A state in memory, for tests and for tasks that need not survive the process.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "store/store.h"

namespace dutiful {

// Outlives the stores that hold it one after the other.
struct MemoryState {
  struct Row {
    TaskConfig config;
    TaskProgress progress;
    Account account{};
    std::map<std::int64_t, AccountStretch> stretches{};  // of the account, by number
  };
  std::vector<Row> rows;  // by number
  std::string scheduler;
  std::uint64_t fence = 0;
  bool held = false;
};

class MemoryStore : public Store {
 public:
  // Throws StateHeldError if another store holds the state.
  explicit MemoryStore(std::shared_ptr<MemoryState> state);
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  [[nodiscard]] StoredState load() override;
  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override;
  void commit(std::span<const RowUpdate> updates) override;

 private:
  std::shared_ptr<MemoryState> state_;
};

}  // namespace dutiful
