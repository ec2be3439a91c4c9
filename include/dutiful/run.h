// Callbacks, and what they get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <dutiful/export.h>
#include <dutiful/time.h>

namespace dutiful {

// Why a run starts (RULES K2).
enum class Reason : std::uint8_t {
  cron,    // a pulse: a minute of its cron expression
  retry,   // the last run failed, and the retry delay has expired
  orphan,  // the last run was interrupted by a crash
  boot,    // it was registered for the first time, in a minute of its cron expression
};

// "cron", "retry", "orphan" or "boot", as in traces and events.
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(Reason reason) noexcept;

// Why a run is asked to stop.
enum class StopReason : std::uint8_t {
  time_limit,  // its time limit has expired; it counts as failed, however it ends (RULES X2)
  stopping,    // stop() was called and waits for the run, which may also finish as usual (RULES I5)
};

// "time_limit" or "stopping".
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(StopReason reason) noexcept;

class StopState;  // internal

// One run of a task.
struct RunInfo {
  std::string task;
  Reason reason;
  Instant pulse;          // the pulse it runs for; the same for every attempt
  std::uint32_t attempt;  // from 1
  // Grows with every start of the task, across restarts, crashes and the removal of the task. A
  // resource that runs write to can keep the largest fence it has seen and reject a smaller one.
  // This keeps out a run that was taken for dead but was only suspended (RULES P8). All tasks of a
  // state share one counter, so the fences of a task have gaps. Without a state, the counter lives
  // as long as the scheduler.
  std::uint64_t fence;
  // Usually 0. If the pulse may have occurred before, by a clock that has been corrected since
  // (RULES T7), the fence of the first attempt. It makes the key unique.
  std::uint64_t recurrence = 0;
  Instant started;
  std::stop_token stop{};  // asks the run to stop; stop_reason() says why
  // The same, but not for StopReason::stopping: for a run that learns about stop() in another way,
  // or that always finishes.
  std::stop_token must_end{};
  std::shared_ptr<const StopState> stop_state{};  // belongs to the scheduler
  // When this attempt was due: for a retry, when the retry delay expired; otherwise the pulse. It
  // is the scheduledTime of the event TaskRunStarted.
  Instant scheduled = pulse;

  // None until `stop` is requested. If there are two reasons, time_limit.
  [[nodiscard]] DUTIFUL_EXPORT std::optional<StopReason> stop_reason() const noexcept;

  // Identifies the work by task and pulse, as in "backup@2025-03-03T03:15:00.000Z". The key is the
  // same for every attempt, by retry or after a crash, and is never used for other work. A callback
  // that stores the key with its results can tell whether the work is done (RULES P8).
  //
  // If a clock that was hours ahead is corrected, pulses recur for which the task has already run.
  // Until the clock has passed them, keys have a suffix, as in
  // "backup@2025-03-03T03:15:00.000Z~1843".
  //
  // A boot run is for the minute in which the task was registered first. If a task is removed, and
  // registered again within a minute for which it has run, it runs again (RULES K4) with the same
  // key: task and pulse are the same. A removed task is forgotten: if the clock is set back before
  // it is registered again, its keys may be used again.
  [[nodiscard]] DUTIFUL_EXPORT std::string key() const;
};

// A run that its callback settles, at once or later, from any thread, by one call of succeed() or
// fail(). A Run that is destroyed unsettled has failed. If the callback throws and its Run is
// destroyed unsettled with it, the exception is the reason of the failure.
//
//   [](dutiful::Run run) { queue.push([run = std::move(run)]() mutable { run.succeed(); }); }
class DUTIFUL_EXPORT Run {
 public:
  class DUTIFUL_HIDDEN Settler;
  DUTIFUL_HIDDEN Run(RunInfo info, std::shared_ptr<Settler> settler);
  Run(Run&&) noexcept = default;
  Run& operator=(Run&& other) noexcept;
  ~Run();

  [[nodiscard]] const RunInfo& info() const noexcept { return info_; }
  void succeed();
  void fail(const std::string& reason);

 private:
  friend class Callback;
  DUTIFUL_HIDDEN void drop() noexcept;

  RunInfo info_;
  std::shared_ptr<Settler> settler_;
};

// A callback in any of its three forms: void(), void(const RunInfo&) and void(Run). The first two
// fail by throwing anything. A callback that returns a value does not compile, because the value
// would be ignored.
//
// A Callback made from a null pointer, an empty std::function or the like is empty, and
// initialize() rejects it (RULES E).
class Callback {
 public:
  Callback() = default;

  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Callback> &&
           (std::is_invocable_v<F&> || std::is_invocable_v<F&, const RunInfo&> ||
            std::is_invocable_v<F&, Run>))
      // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the constraint leaves copies alone.
      Callback(F&& function) {
    static_assert(returns_nothing<std::decay_t<F>>(),
                  "a dutiful callback returns nothing: throw to fail, and wrap what returns "
                  "something in a lambda that checks it: [] { if (!f()) throw Failed{}; }");
    if (!is_null(function)) {
      work_ = std::make_shared<WorkOf<std::decay_t<F>>>(std::forward<F>(function));
    }
  }

  [[nodiscard]] explicit operator bool() const noexcept { return work_ != nullptr; }

  // Calls the function. If it is synchronous, the run is settled when this returns. Never throws.
  DUTIFUL_EXPORT void operator()(Run run) const noexcept;

 private:
  friend struct PromptCallback;

  template <typename F>
  static constexpr bool returns_nothing() {
    if constexpr (std::is_invocable_v<F&>) {
      return std::is_void_v<std::invoke_result_t<F&>>;
    } else if constexpr (std::is_invocable_v<F&, const RunInfo&>) {
      return std::is_void_v<std::invoke_result_t<F&, const RunInfo&>>;
    } else {
      return std::is_void_v<std::invoke_result_t<F&, Run>>;
    }
  }

  // Whether there is nothing to call. A class is compared with nullptr only if it can be made from
  // nullptr, as std::function can: for other classes the comparison may mean anything.
  template <typename F>
  static bool is_null([[maybe_unused]] const F& function) {
    if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>) {
      return function == nullptr;
    } else if constexpr (std::is_constructible_v<F, std::nullptr_t> &&
                         requires { static_cast<bool>(function == nullptr); }) {
      return static_cast<bool>(function == nullptr);
    } else {
      return false;
    }
  }

  // One allocation with the function it holds, because there may be a million of them.
  struct Work {
    virtual ~Work() = default;
    // Takes the run, or settles it before it returns.
    virtual void call(Run& run) = 0;
    // Whether the thread that starts runs may call it. That thread must not wait for anything.
    [[nodiscard]] virtual bool is_prompt() const noexcept { return false; }
  };
  template <typename F>
  struct WorkOf final : Work {
    explicit WorkOf(F function_of) : function(std::move(function_of)) {}

    void call(Run& run) override {
      if constexpr (std::is_invocable_v<F&>) {
        std::invoke(function);
        run.succeed();
      } else if constexpr (std::is_invocable_v<F&, const RunInfo&>) {
        std::invoke(function, run.info());
        run.succeed();
      } else {
        std::invoke(function, std::move(run));
      }
    }

    F function;
  };

  std::shared_ptr<Work> work_;
};

}  // namespace dutiful
