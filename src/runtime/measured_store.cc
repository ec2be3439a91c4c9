#include "runtime/measured_store.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "core/best_effort.h"

namespace dutiful {
namespace {

class MeasuredStore final : public Store {
 public:
  MeasuredStore(std::unique_ptr<Store> store, const Clock& clock, TypedSink events)
      : store_(std::move(store)), clock_(clock), events_(std::move(events)) {}

  StoredState load() override { return store_->load(); }

  std::vector<std::int64_t> replace(const Plan& plan, const std::string& scheduler) override {
    const auto began = monotonic();
    auto rows = store_->replace(plan, scheduler);
    report(plan.tasks.size(), began);
    return rows;
  }

  void commit(std::span<const RowUpdate> updates) override {
    const auto began = monotonic();
    store_->commit(updates);
    report(updates.size(), began);
  }

 private:
  // None if the clock, which may be the user's, throws: that must not fail a transaction.
  [[nodiscard]] std::optional<Duration> monotonic() const noexcept {
    std::optional<Duration> time;
    best_effort([&] { time = clock_.monotonic(); });
    return time;
  }

  void report(std::size_t tasks, std::optional<Duration> began) const noexcept {
    if (!began) return;
    best_effort([&] {
      const Duration duration = clock_.monotonic() - *began;
      events_({.at = clock_.now(),
               .what = event::StoreCommitted{.tasks = static_cast<std::int64_t>(tasks),
                                             .duration = duration}});
    });
  }

  const std::unique_ptr<Store> store_;
  const Clock& clock_;
  const TypedSink events_;
};

}  // namespace

Engine::OpenStore measured(Engine::OpenStore open, const Clock& clock, const TypedSink& events) {
  return [open = std::move(open), &clock, events] {
    return std::make_unique<MeasuredStore>(open(), clock, events);
  };
}

}  // namespace dutiful
