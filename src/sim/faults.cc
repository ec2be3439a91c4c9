#include "sim/faults.h"

#include <utility>

#include <dutiful/errors.h>

namespace dutiful {
namespace {

class FaultyStore : public Store {
 public:
  FaultyStore(std::unique_ptr<Store> store, Faults& faults)
      : store_(std::move(store)), faults_(faults) {}

  [[nodiscard]] StoredState load() override { return store_->load(); }

  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    before();
    auto rows = store_->replace(plan, scheduler);
    after();
    return rows;
  }

  void commit(std::span<const RowUpdate> updates) override {
    before();
    store_->commit(updates);
    after();
  }

 private:
  void before() {
    if (faults_.failing_commits > 0) {
      --faults_.failing_commits;
      throw StoreError("the simulated state", "the disk is full");
    }
    if (faults_.crash_in == CrashIn::before_commit) die();
  }
  void after() {
    if (faults_.crash_in == CrashIn::after_commit) die();
  }
  [[noreturn]] void die() {
    faults_.crash_in = CrashIn::nothing;
    faults_.crashed = true;
    throw StoreError("the simulated state", "the process has died");
  }

  std::unique_ptr<Store> store_;
  Faults& faults_;
};

}  // namespace

std::unique_ptr<Store> make_faulty(std::unique_ptr<Store> store, Faults& faults) {
  return std::make_unique<FaultyStore>(std::move(store), faults);
}

}  // namespace dutiful
