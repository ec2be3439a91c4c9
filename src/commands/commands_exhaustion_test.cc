// Commands for which the memory runs out, at every allocation in turn.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "commands/commands.h"
#include "commands/commands_in_test.h"
#include "runtime/settler.h"
#include "support/allocations.h"

namespace dutiful {
namespace {

// Waits for the end of a run without allocating.
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

TEST(Commands, that_get_no_memory_succeed_or_fail_and_none_is_lost) {
  const SpareAllocations ours;
  int succeeded = 0;
  int failed = 0;
  for (std::uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    int reported = 0;
    std::optional<Commands> commands;
    commands.emplace(CommandOptions{.on_end =
                                        [&](const CommandResult& result) {
                                          const std::vector<char> copy(100 + result.output.size());
                                          ++reported;
                                        },
                                    .on_lost = [&] { ++reported; }});
    const auto ending = std::make_shared<Ending>();
    const std::string script = "echo a line that is too long for a short string";
    commands->callback({.arguments = {"/bin/sh", "-c", script}})(dutiful::Run{
        run_info_of("a task with a name that is too long for a short string"), ending});

    fail_allocation(n);
    commands->open();
    const Outcome outcome = ending->wait();
    const bool was_hit = allocation_failed();
    fail_allocation(0);
    commands.reset();  // a run that is lost may be reported just after its end

    EXPECT_EQ(reported, 1);
    (outcome == Outcome::success ? succeeded : failed) += 1;
    if (!was_hit) {
      EXPECT_EQ(outcome, Outcome::success);
      break;
    }
  }
  EXPECT_GT(failed, 10);    // the allocations before the command runs
  EXPECT_GT(succeeded, 1);  // those after it
}

TEST(Commands, that_cannot_even_wait_are_reported_as_lost) {
  int lost = 0;
  int refused = 0;
  Commands commands{{.on_lost = [&] { ++lost; }}};  // never open, so that all runs wait
  const Callback callback = commands.callback({.arguments = {"/bin/true"}});
  for (int i = 0; i < 20; ++i) {
    const auto ending = std::make_shared<Ending>();
    dutiful::Run run{run_info_of("a"), ending};
    fail_allocation(1);
    callback(std::move(run));
    const bool was_hit = allocation_failed();
    fail_allocation(0);
    if (!was_hit) continue;
    ++refused;
    EXPECT_EQ(ending->wait(), Outcome::failure);
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(lost, refused);
}

TEST(Commands, beside_the_tasks_end_without_memory_too) {
  const SpareAllocations ours;
  for (std::uint64_t n = 1;; ++n) {
    SCOPED_TRACE(n);
    Commands commands{{}};
    const auto ending = std::make_shared<Ending>();
    commands.run_beside(
        dutiful::Run{run_info_of("a task with a name that is too long for a short string"), ending},
        {.arguments = {"/bin/sh", "-c", "test $(cat) = input"}},
        {.variables = {{"A", "a value that is too long for a short string"}},
         .input = "input",
         .time_limit = std::chrono::hours{1}});

    fail_allocation(n);
    commands.open();
    const Outcome outcome = ending->wait();
    const bool was_hit = allocation_failed();
    fail_allocation(0);

    if (was_hit) continue;
    EXPECT_EQ(outcome, Outcome::success);
    return;
  }
}

}  // namespace
}  // namespace dutiful
