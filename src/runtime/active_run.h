// A run from its start to its end.
#pragma once

#include <memory>
#include <string>

#include "engine/ending.h"
#include "posix/bell.h"
#include "runtime/prompt_callback.h"
#include "runtime/queue.h"
#include "runtime/registrations.h"
#include "runtime/settler.h"
#include "runtime/stop_state.h"
#include "sync/mutex.h"

namespace dutiful {

class Mailbox;

// The start as its callback sees it. Needs no memory.
[[nodiscard]] RunInfo run_info_of(Start&& start, const std::shared_ptr<StopState>& stop) noexcept;

// Holds all the memory that a run needs, so that its end cannot fail (RULES X3).
class ActiveRun : public Run::Settler, public std::enable_shared_from_this<ActiveRun> {
 public:
  ActiveRun(TaskId id, Callback callback, std::weak_ptr<Mailbox> mailbox)
      : task(id), callback_(std::move(callback)), mailbox_(std::move(mailbox)) {}

  // Sets what the callback sees. Must be the last step, because it moves the name out of the start,
  // and a start whose run cannot be made is tried again.
  void set_info(Start&& start) noexcept {
    reason_ = start.reason;
    attempt_ = start.attempt;
    info_ = run_info_of(std::move(start), stop);
  }

  // Whether the loop itself may call call().
  [[nodiscard]] bool is_prompt() const noexcept { return PromptCallback::is(callback_); }

  // Runs the callback, once.
  void call() noexcept { callback_(Run{std::move(info_), shared_from_this()}); }

  void settle(Outcome how, std::string_view reason) noexcept override;
  void note_process(const ProcessEnd& end) noexcept override { process_ = end; }

  const TaskId task;

  // Only the loop uses these.
  std::shared_ptr<StopState> stop;
  Instant deadline = Instant::max();
  bool timed_out = false;

  // When it began, by Clock::monotonic().
  Duration began{};

  // How it ended, once it is in the mailbox. A run that exceeded its time limit has failed,
  // whatever the callback says.
  [[nodiscard]] Ending ending() const;
  Outcome outcome = Outcome::failure;
  std::string error;
  Instant returned;
  Duration duration{};

  std::shared_ptr<ActiveRun> next;  // see Queue

 private:
  RunInfo info_{};  // moves to the callback
  Reason reason_{};
  std::uint32_t attempt_ = 1;
  ProcessEnd process_{};
  Callback callback_;
  std::weak_ptr<Mailbox> mailbox_;
};

// The run for a start, with its deadline. The caller must still call set_info().
[[nodiscard]] std::shared_ptr<ActiveRun> make_active_run(const Start& start,
                                                         const CallbackOf& callback,
                                                         const std::shared_ptr<Mailbox>& mailbox,
                                                         const Clock& clock);

// Runs that have ended, on their way from the threads that settle them to the loop.
class Mailbox {
 public:
  // Rings the bell, if there is one, when the first run arrives in an empty mailbox. The bell and
  // the clock, which says when a run arrives, must outlive the mailbox.
  explicit Mailbox(const Clock& clock, Bell* wake_up = nullptr)
      : clock_(clock), wake_up_(wake_up) {}

  void put(std::shared_ptr<ActiveRun> ended) noexcept {
    try {
      const Instant now = clock_.now();
      ended->returned = in_clock_range(now) ? now : clock_end;
      ended->duration = clock_.monotonic() - ended->began;
    } catch (...) {
      ended->returned = clock_end;  // the user's clock has failed: the time is unknown
    }
    const Lock lock{mutex_};
    const bool first = ended_.empty();
    ended_.push(std::move(ended));
    if (first && wake_up_ != nullptr) wake_up_->ring();
  }
  Queue<ActiveRun> take() noexcept {
    const Lock lock{mutex_};
    return std::move(ended_);
  }

 private:
  const Clock& clock_;
  Bell* wake_up_;
  Mutex mutex_;
  Queue<ActiveRun> ended_ GUARDED_BY(mutex_);
};

}  // namespace dutiful
