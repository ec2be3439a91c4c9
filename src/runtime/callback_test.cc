// What a callback can be made of, and when it is empty (RULES E).

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include <dutiful/testing.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

int runs = 0;

void plain() {
  ++runs;
}

// Like std::move_only_function, which C++20 does not have.
class MoveOnlyFunction {
 public:
  MoveOnlyFunction(std::nullptr_t) {}
  explicit MoveOnlyFunction(void (*function)())
      : function_(std::make_unique<void (*)()>(function)) {}
  void operator()() { (*function_)(); }
  friend bool operator==(const MoveOnlyFunction& function, std::nullptr_t) {
    return function.function_ == nullptr;
  }

 private:
  std::unique_ptr<void (*)()> function_;
};

// It can be called, although it converts to false.
struct Indifferent {
  explicit operator bool() const { return false; }
  void operator()() const { ++runs; }
};

// How often the callback of a task that is due once runs.
int runs_of(Callback callback) {
  runs = 0;
  VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"), {.zone = Zone::utc()}};
  scheduler.initialize({{"a", "* * * * *", std::move(callback), 1min}});
  return runs;
}

TEST(Callbacks, are_empty_if_they_are_made_of_an_empty_function) {
  EXPECT_FALSE(Callback{});
  EXPECT_FALSE(Callback{static_cast<void (*)()>(nullptr)});
  EXPECT_FALSE(Callback{static_cast<void (*)(const RunInfo&)>(nullptr)});
  EXPECT_FALSE(Callback{static_cast<void (*)(dutiful::Run)>(nullptr)});
  EXPECT_FALSE(Callback{static_cast<void (dutiful::Run::*)()>(nullptr)});
  EXPECT_FALSE(Callback{std::function<void()>{}});
  EXPECT_FALSE(Callback{std::function<void(const RunInfo&)>{}});
  const std::function<void()> empty;
  EXPECT_FALSE(Callback{empty});
  EXPECT_FALSE(Callback{MoveOnlyFunction{nullptr}});
}

TEST(Callbacks, hold_anything_that_can_be_called) {
  EXPECT_EQ(runs_of(plain), 1);
  EXPECT_EQ(runs_of(&plain), 1);
  EXPECT_EQ(runs_of([] { ++runs; }), 1);
  EXPECT_EQ(runs_of([](const auto& /*info*/) { ++runs; }), 1);
  EXPECT_EQ(runs_of(std::function<void()>{plain}), 1);
  EXPECT_EQ(runs_of(MoveOnlyFunction{plain}), 1);
  EXPECT_EQ(runs_of(Indifferent{}), 1);
  Indifferent indifferent;
  EXPECT_EQ(runs_of(std::ref(indifferent)), 1);
  EXPECT_EQ(runs_of(&dutiful::Run::succeed), 0);  // it settles the run, or stop() would throw
}

}  // namespace
}  // namespace dutiful
