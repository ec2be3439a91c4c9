// The durable step of the scheduler: takes ends, decides starts, makes both durable, and only then
// hands the starts out. Single-threaded; time and storage are passed in.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "account/bookkeeper.h"
#include "core/core.h"
#include "engine/ending.h"
#include "engine/reporter.h"
#include "engine/status_board.h"
#include "engine/store_retry.h"
#include "store/store.h"
#include "trace/event.h"

namespace dutiful {

// The scheduler's lifecycle (RULES I2). While it stops, nothing starts, and runs are waited for.
enum class Lifecycle { uninitialized, running, stopping };

// How an initialize() or stop() is traced. If several threads may call, only the caller knows when
// a call began and when it returns, so it traces both itself. InitSuccess is always the engine's.
struct TracedCall {
  CallNumber number{};
  bool traced_by_caller = false;
};

class Engine {
 public:
  // Opens and holds the state. Throws if another process holds it (RULES P6).
  using OpenStore = std::function<std::unique_ptr<Store>()>;

  // Called when the state is held and read, and before anything in it changes. Returns the time by
  // then. If it throws, initialize() does.
  using Prepare = std::function<Instant()>;

  // The trace sink, and the board if there is one, must outlive the engine. The board shows what is
  // durable.
  Engine(const Calendar& calendar,
         Policies policies,
         OpenStore open_store,
         TraceSink& trace,
         TypedSink events = {},
         Prepare prepare = {},
         StatusBoard* board = nullptr);

  // RULES I3, I4, P2-P5. Throws the errors of RULES E. If it throws, nothing changes.
  void initialize(std::vector<TaskConfig> list, Instant now, TracedCall call = {});

  // Turns what a clock shows into the time that the calls below expect. While the clock is outside
  // the years 1 to 9999, time stands still, because no such instant can be recorded: ends are
  // recorded, nothing starts, and that is reported.
  [[nodiscard]] Instant follow(Instant clock);
  [[nodiscard]] bool follows() const { return !back_at_; }

  // From here on nothing starts (RULES I5). Returns whether the stop is complete: nothing runs,
  // every end is recorded, and the state is released. Otherwise the record_ends() or step() that
  // completes it says so.
  bool stop(Instant now, TracedCall call = {});

  // The run of a task has ended. The next record_ends() or step() makes the end durable. If memory
  // runs out, nothing changes.
  void end(TaskId task, Ending ending, Instant now);

  // Records the ends, and starts nothing. Returns whether a stop is complete. If the store fails,
  // the ends are recorded later.
  bool record_ends(Instant now);

  struct StepResult {
    std::vector<Start> starts{};  // durably marked as running: the caller must run them
    bool stopped = false;         // a stop is complete
  };

  // Records the ends, and starts what is owed a run, at most `limit` tasks, in one transaction. If
  // memory runs out, it throws, and every end and obligation is as it was (RULES X3).
  [[nodiscard]] StepResult step(Instant now, std::size_t limit = ~std::size_t{0});

  // When step() will next have something to do if nothing else happens.
  [[nodiscard]] Instant next_wake() const;

  [[nodiscard]] Lifecycle lifecycle() const { return lifecycle_; }
  [[nodiscard]] const Core& core() const { return core_; }
  [[nodiscard]] Reporter& reporter() { return reporter_; }

  // The tasks whose runs have not ended, or whose ends are not recorded.
  [[nodiscard]] std::vector<std::string> unfinished() const;

  // Why the last stop could not record every end, if so. Those runs count as interrupted (H5).
  [[nodiscard]] const std::exception_ptr& stop_error() const { return stop_error_; }

 private:
  // initialize()
  void replace_list(std::vector<TaskConfig> list, Instant now, CallNumber call);
  void trace_state(const std::vector<TaskRecord>& records);
  void publish_refusal(const std::exception_ptr& error, TracedCall call, Instant now) noexcept;

  // Making things durable.
  struct Recorded {
    bool durable;
    bool stopped;
  };
  Recorded record(const std::vector<Start>& starts, Instant now);
  void postpone_ends(Instant now);
  void book(const std::vector<Start>& starts);
  [[nodiscard]] Service service_of(const Start& start) const;
  [[nodiscard]] std::vector<RowUpdate> updates_of(const std::vector<Start>& starts) const;
  [[nodiscard]] bool commit(const std::vector<Start>& starts) noexcept;
  void back_off(Instant now);
  void forget_store_error();
  [[nodiscard]] bool owes_store() const { return !unrecorded_.empty() || !corrected_.empty(); }

  // Showing, reporting and tracing what is durable.
  void show_changes(const std::vector<Start>& starts) noexcept;
  void publish_ends(Instant now) noexcept;
  void publish_starts(const std::vector<Start>& starts, Instant now) noexcept;
  void trace_end(const End& end) noexcept;

  // Completing a stop. Both return whether it is complete.
  bool finish_stop(Instant now);
  bool give_up_stop(Instant now);
  void enter_uninitialized(Instant now);
  void release_state();

  Policies policies_;
  OpenStore open_store_;
  Prepare prepare_;
  TraceSink& trace_;
  Reporter reporter_;
  StatusBoard* board_;  // nullptr: nobody looks
  Calendar calendar_;
  Core core_;
  std::unique_ptr<Store> store_;
  Lifecycle lifecycle_ = Lifecycle::uninitialized;
  Instant time_ = clock_begin;  // the newest time of the clock that is in its range
  // If the clock is outside its range: when it will be back, unless it is set.
  std::optional<Instant> back_at_;
  std::vector<CallNumber> stops_waiting_;  // those that the engine traces
  bool stop_traced_by_caller_ = false;
  std::vector<End> unrecorded_;             // ends that the core knows and the store does not
  std::vector<ClockCorrection> corrected_;  // corrections that the store does not know (T7)
  std::exception_ptr store_error_;
  std::exception_ptr stop_error_;
  StoreRetry retry_;

  // The accounts.
  Bookkeeper bookkeeper_;
  std::vector<Booking> bookings_;  // of the starts of the newest transaction, in their order
  Waits waits_;
  Instant up_since_ = no_instant;     // when the state was taken
  Instant alive_until_ = no_instant;  // the newest sign of life of the previous scheduler
};

}  // namespace dutiful
