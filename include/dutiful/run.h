// What a callback is handed, and what callbacks are.
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
  cron,    // a minute of its expression has come
  retry,   // the last run failed, and the retry delay is over
  orphan,  // the last run was interrupted by a crash
  boot,    // it came for the first time, in a minute of its expression
};

// "cron", "retry", "orphan" or "boot", as traces and events spell it.
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(Reason reason) noexcept;

// Why a run is asked to end.
enum class StopReason : std::uint8_t {
  time_limit,  // its time limit is over; however it ends, it has failed (RULES X2)
  stopping,    // stop() was called, which waits for it; it may as well go on to its end (RULES I5)
};

// "time_limit" or "stopping".
[[nodiscard]] DUTIFUL_EXPORT const char* name_of(StopReason reason) noexcept;

class StopState;  // internal

// One run of a task.
struct RunInfo {
  std::string task;
  Reason reason;
  Instant pulse;  // the instant it was due; of a retry or an orphan, that of the first attempt
  std::uint32_t attempt;  // from 1
  // Grows with every start of the task, for ever: over restarts, crashes, and the task's removal.
  // What a run writes to can keep the largest that it has seen, and refuse a late writer with a
  // smaller one: a run that was taken for dead, say, and had only been stopped (RULES P8). It is
  // one counter for all tasks of a state, so there are gaps. Without a state it lives as long as
  // the scheduler.
  std::uint64_t fence;
  // 0; but where the pulse may have come before, by a clock that has been corrected since (RULES
  // T7), the fence of the first attempt, which tells the two apart in the key.
  std::uint64_t recurrence = 0;
  Instant started;
  std::stop_token stop{};  // asks the run to end; stop_reason() says why
  // The same, but silent when the scheduler is stopped: for a run that is told of that in another
  // way, or is to go on.
  std::stop_token must_end{};
  std::shared_ptr<const StopState> stop_state{};  // belongs to the scheduler
  // When this attempt was due: for a retry, when the retry delay ended; otherwise the pulse. The
  // event TaskRunStarted calls it scheduledTime.
  Instant scheduled = pulse;

  // Nothing before `stop` asks. Where there are two reasons, the one that presses.
  [[nodiscard]] DUTIFUL_EXPORT std::optional<StopReason> stop_reason() const noexcept;

  // Names the work: what the task of that name does for that pulse, as in
  // "backup@2025-03-03T03:15:00.000Z". It is the same for every attempt, by retry or after a crash,
  // and never used for other work, so a callback that keeps it with what it did can tell whether it
  // did so already (RULES P8).
  //
  // A clock that was hours ahead, and is corrected, brings instants again for which the task has
  // run. Until it is past them the keys of new work have an end of their own, as in
  // "backup@2025-03-03T03:15:00.000Z~1843".
  //
  // A boot run is for the minute in which the task came. A name that is removed and comes back
  // within a minute for which it has run is run again (RULES K4), with the same key: to the key it
  // is the same task and the same pulse. A removed name is forgotten: if the clock is set back
  // before it comes back, its keys may come again.
  [[nodiscard]] DUTIFUL_EXPORT std::string key() const;
};

// A run in the hands of a callback that takes its time: settled once, from any thread, by succeed()
// or fail(). One that is dropped unsettled has failed; so has one that the callback took with it
// when it threw, and then with what was thrown as the reason.
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

// A callback in any of its three forms: void(), void(const RunInfo&), both of which fail by
// throwing anything at all, and void(Run). One that returns something does not compile: nobody
// would look at it.
//
// One that is made of a null pointer, an empty std::function or the like is empty itself, and
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

  // Runs it; the run is settled when a synchronous one returns. Never throws.
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

  // Whether there is nothing in it to call. Of classes, only those are asked that can be made of
  // nullptr, as std::function can: what any other means by being "false" is its own business.
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

  // In one piece with the function it holds: there may be a million of them.
  struct Work {
    virtual ~Work() = default;
    // Takes the run, or returns when it has succeeded.
    virtual void call(Run& run) = 0;
    // Whether it may be called by the thread that starts runs, which must not wait for anything.
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
