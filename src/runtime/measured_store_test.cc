#include "runtime/measured_store.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/runtime_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// Each transaction takes 7 ms, or fails.
class SlowStore final : public Store {
 public:
  SlowStore(ManualClock& clock, bool fails) : clock_(clock), fails_(fails) {}

  StoredState load() override { return {}; }
  std::vector<std::int64_t> replace(const Plan& /*plan*/, const std::string& /*name*/) override {
    transact();
    return {4};
  }
  void commit(std::span<const RowUpdate> /*updates*/) override { transact(); }

 private:
  void transact() {
    if (fails_) throw std::runtime_error("fails on purpose");
    clock_.advance(7ms);
  }

  ManualClock& clock_;
  const bool fails_;
};

// A clock whose monotonic() throws from the call with this number on.
class ThrowingClock final : public Clock {
 public:
  explicit ThrowingClock(int works) : works_(works) {}
  [[nodiscard]] Instant now() const override { return at("2025-03-03T10:00:30Z"); }
  [[nodiscard]] Duration monotonic() const override {
    if (works_-- <= 0) throw std::runtime_error("fails on purpose");
    return {};
  }
  void set_alarm(Instant /*instant*/) override {}
  void take_alarm() override {}
  [[nodiscard]] int descriptor() const override { return -1; }

 private:
  mutable int works_;
};

class MeasuredStore : public Runtime {
 protected:
  std::vector<TypedEvent> events;
  TypedSink sink = [this](const TypedEvent& event) { events.push_back(event); };

  std::unique_ptr<Store> open(const Clock& with, const TypedSink& to, bool fails = false) {
    return measured(
        [this, fails] { return std::make_unique<SlowStore>(*clock, fails); }, with, to)();
  }
};

TEST_F(MeasuredStore, reports_how_long_a_transaction_took) {
  const auto store = open(*clock, sink);
  const RowUpdate update{.row = 1, .progress = {}};
  store->commit(std::vector{update, update});
  EXPECT_THAT(store->replace({}, "x"), testing::ElementsAre(4));

  ASSERT_EQ(events.size(), 2);
  const auto& committed = std::get<event::StoreCommitted>(events[0].what);
  EXPECT_EQ(committed.tasks, 2);
  EXPECT_EQ(committed.duration, 7ms);
  EXPECT_EQ(events[0].at, at("2025-03-03T10:00:30.007Z"));
  const auto& replaced = std::get<event::StoreCommitted>(events[1].what);
  EXPECT_EQ(replaced.tasks, 0);
  EXPECT_EQ(replaced.duration, 7ms);
}

TEST_F(MeasuredStore, reports_nothing_if_the_transaction_fails) {
  const auto store = open(*clock, sink, true);
  EXPECT_THROW(store->commit({}), std::runtime_error);
  EXPECT_THROW((void)store->replace({}, "x"), std::runtime_error);
  EXPECT_TRUE(events.empty());
}

// P4: what is durable must not look as if it had failed.
TEST_F(MeasuredStore, succeeds_if_the_clock_or_the_sink_throws) {
  for (const int works : {0, 1}) {
    const ThrowingClock throwing{works};
    EXPECT_NO_THROW(open(throwing, sink)->commit({}));
  }
  EXPECT_NO_THROW(
      open(*clock, [](const TypedEvent&) { throw std::runtime_error("fails"); })->commit({}));
  EXPECT_TRUE(events.empty());
}

TEST_F(MeasuredStore, reports_to_the_projects_own_sinks_only) {
  std::vector<std::string> names;
  Options measuring = options();
  const auto life = [&](EventSink events_of) {
    names.clear();
    measuring.events = std::move(events_of);
    Scheduler scheduler{measuring};
    scheduler.initialize({{"a", "0 12 * * *", [] {}, 1min}});
    scheduler.stop();
  };

  life(TypedEvents{[&](const TypedEvent& event) { names.emplace_back(publish(event).name); }});
  EXPECT_THAT(names, testing::Contains("StoreCommitted").Times(1));  // for the list
  life([&](const Event& event) { names.emplace_back(event.name); });
  EXPECT_THAT(names,
              testing::AllOf(testing::Contains("TaskAdded"),
                             testing::Not(testing::Contains("StoreCommitted"))));
}

}  // namespace
}  // namespace dutiful
