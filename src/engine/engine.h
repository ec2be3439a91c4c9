// The durable step of the scheduler: take ends, decide starts, make both durable, and only then
// hand the starts out. Single-threaded; time and storage are passed in.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/core.h"
#include "engine/ending.h"
#include "engine/reporter.h"
#include "store/store.h"
#include "trace/event.h"

namespace dutiful {

// The scheduler's lifecycle (RULES I2). While stopping, nothing starts, and runs are waited for.
enum class Lifecycle { uninitialized, running, stopping };

// How a trace is told of an initialize() or stop(). Where several threads may call, only the caller
// knows when a call began and when it returns: telling both is then its part, but for InitSuccess.
struct TracedCall {
  CallNumber number{};
  bool told_by_caller = false;
};

class Engine {
 public:
  // Takes hold of the state; throws where another has it (RULES P6).
  using OpenStore = std::function<std::unique_ptr<Store>()>;

  // Called once the state is held and read, and before anything in it changes; says what time it is
  // then. Where it throws, initialize() does.
  using Prepare = std::function<Instant()>;

  // The trace sink must outlive the engine.
  Engine(const Calendar& calendar,
         Policies policies,
         OpenStore open_store,
         TraceSink& trace,
         TypedSink events = {},
         Prepare prepare = {});

  // RULES I3, I4, P2-P5. Throws the errors of RULES E, and then nothing has changed.
  void initialize(std::vector<TaskConfig> list, Instant now, TracedCall call = {});

  // Turns what a clock shows into the time that the calls below expect. For a clock outside the
  // years 1 to 9999 time stands still: no such instant can be recorded. Until the clock is back,
  // ends are recorded and nothing starts, which is told.
  [[nodiscard]] Instant follow(Instant clock);
  [[nodiscard]] bool follows() const { return !back_at_; }

  // From here on nothing starts (RULES I5). It has stopped when lifecycle() says uninitialized: at
  // once, or with the settle() or step() that records the last end.
  void stop(Instant now, TracedCall call = {});

  // The run of a task has ended. What follows from it comes with the next settle() or step(). If
  // memory runs out, nothing has changed.
  void end(TaskId task, Ending ending, Instant now);
  // The same, of a callback that has returned just now.
  void end(TaskId task, Outcome outcome, Instant now, std::string error = {});

  // Records the ends, and starts nothing.
  void settle(Instant now);

  // Records the ends and starts what is owed a run, at most `limit` of them: one transaction. What
  // it returns is durably marked as running, and has to be run. Where memory runs out it throws,
  // and every end and every obligation stands as before (RULES X3).
  [[nodiscard]] std::vector<Start> step(Instant now, std::size_t limit = ~std::size_t{0});

  // When step() will next have something to do if nothing else happens.
  [[nodiscard]] Instant next_wake() const;

  [[nodiscard]] Lifecycle lifecycle() const { return lifecycle_; }
  [[nodiscard]] const Core& core() const { return core_; }
  [[nodiscard]] Reporter& reporter() { return reporter_; }

  // The tasks whose runs have not ended, or have and are not recorded.
  [[nodiscard]] std::vector<std::string> unfinished() const;

  // Why the last stop could not record every end, if so. Those runs count as interrupted (H5).
  [[nodiscard]] const std::exception_ptr& stop_error() const { return stop_error_; }

 private:
  void replace_list(std::vector<TaskConfig> list, Instant now, CallNumber call);
  void tell_state(const std::vector<TaskRecord>& records);
  void fail_initialization(const std::exception_ptr& error, TracedCall call, Instant now) noexcept;
  void tell_end(End& end) noexcept;
  void postpone_ends(Instant now);
  [[nodiscard]] std::vector<RowUpdate> updates_of(const std::vector<Start>& starts) const;
  bool make_durable(const std::vector<Start>& starts, Instant now);
  void finish_stop(Instant now);
  void let_go(Instant now);
  void forget_store_error();
  [[nodiscard]] bool may_try_to_stop_again(Instant now);
  [[nodiscard]] bool owes_store() const { return !unrecorded_.empty() || !corrected_.empty(); }

  // After a failed transaction the next is tried after the first delay, then after twice that …
  static constexpr Duration retry_delay_first{100};
  static constexpr Duration retry_delay_max{30'000};
  static constexpr Duration retry_delay_max_stopping{1'000};

  // A stop that waits only for a store that fails gives up after so many tries, or after the first
  // that begins so much later: a try may take seconds itself, where another process has a lock.
  static constexpr int stop_tries_max = 5;
  static constexpr Duration stop_tries_time_max{4'000};

  Policies policies_;
  OpenStore open_store_;
  Prepare prepare_;
  TraceSink& trace_;
  Reporter reporter_;
  Calendar calendar_;
  Core core_;
  std::unique_ptr<Store> store_;
  Lifecycle lifecycle_ = Lifecycle::uninitialized;
  Instant time_ = clock_begin;  // the newest that the clock has shown, in its range
  // Where the clock is outside its range: when it will be back if it just goes on.
  std::optional<Instant> back_at_;
  std::vector<CallNumber> stops_waiting_;  // that the engine tells the trace of
  bool stop_told_by_caller_ = false;
  std::vector<End> unrecorded_;             // ends that the core knows and the store does not
  std::vector<ClockCorrection> corrected_;  // the same of tasks that follow a corrected clock (T7)
  std::exception_ptr store_error_;
  std::exception_ptr stop_error_;
  int stop_tries_ = 0;
  Instant stop_tried_first_ = no_instant;
  Duration retry_delay_{};
  Instant retry_store_at_ = no_instant;
};

}  // namespace dutiful
