// Commands where the memory runs out, at every place where it can.

#include <condition_variable>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include "commands/commands.h"
#include "commands/commands_in_test.h"
#include "runtime/settler.h"
#include "support/allocations.h"

namespace dutiful {
namespace {

// Waits for the end of a run, and takes no memory for it.
class Ending : public dutiful::Run::Settler {
 public:
  void settle(Outcome outcome, std::string_view /*reason*/) noexcept override {
    const std::lock_guard lock{mutex_};
    outcome_ = outcome;
    changed_.notify_all();
  }
  Outcome wait() {
    std::unique_lock lock{mutex_};
    const auto until = std::chrono::system_clock::now() + std::chrono::minutes{1};
    if (!changed_.wait_until(lock, until, [this] { return outcome_.has_value(); })) {
      throw std::runtime_error("the run does not end");
    }
    return *outcome_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Outcome> outcome_;
};

TEST(Commands, that_get_no_memory_fail_or_succeed_and_none_is_lost) {
  const SpareAllocations ours;
  int succeeded = 0;
  int failed = 0;
  for (std::uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    Commands commands{{}};
    const auto ending = std::make_shared<Ending>();
    const std::string script = "echo a line that is too long for a short string";
    commands.callback({.arguments = {"/bin/sh", "-c", script}})(dutiful::Run{
        run_info_of("a task with a name that is too long for a short string"), ending});

    fail_allocation(n);
    commands.open();
    const Outcome outcome = ending->wait();
    const bool was_hit = allocation_failed();
    fail_allocation(0);

    (outcome == Outcome::success ? succeeded : failed) += 1;
    if (!was_hit) {
      EXPECT_EQ(outcome, Outcome::success);
      break;
    }
  }
  EXPECT_GT(failed, 10);    // what comes before the command runs
  EXPECT_GT(succeeded, 1);  // what comes after
}

}  // namespace
}  // namespace dutiful
