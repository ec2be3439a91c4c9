#include "runtime/active_run.h"

#include <exception>

namespace dutiful {

RunInfo run_info_of(Start&& start, const std::shared_ptr<StopState>& stop) noexcept {
  return {.task = std::move(start.name),
          .reason = start.reason,
          .pulse = start.pulse,
          .attempt = start.attempt,
          .fence = start.fence,
          .recurrence = start.recurrence,
          .started = start.at,
          .stop = stop->stop(),
          .must_end = stop->must_end(),
          .stop_state = stop,
          .scheduled = start.scheduled};
}

std::shared_ptr<ActiveRun> make_active_run(const Start& start,
                                           const CallbackOf& callback,
                                           const std::shared_ptr<Mailbox>& mailbox,
                                           const Clock& clock) {
  const bool limited = callback.time_limit > Duration::zero();
  auto run = std::make_shared<ActiveRun>(start.task, callback.callback, mailbox);
  run->stop =
      std::make_shared<StopState>(limited ? StopState::Limit::some : StopState::Limit::none);
  run->began = clock.monotonic();
  if (limited) run->deadline = later(start.at, callback.time_limit);
  return run;
}

Ending ActiveRun::ending() const {
  Ending ending{.outcome = outcome,
                .error = error,
                .at = returned,
                .duration = duration,
                .reason = reason_,
                .attempt = attempt_,
                .process = process_};
  if (timed_out) {
    ending.error = "time limit exceeded";
    if (outcome == Outcome::failure && !error.empty()) ending.error += ": " + error;
    ending.outcome = Outcome::failure;
  }
  return ending;
}

void ActiveRun::settle(Outcome how, std::string_view reason) noexcept {
  outcome = how;
  try {
    error = reason;
  } catch (const std::exception&) {
    error = "out of memory";  // short enough to need no memory
  }
  // A crash in virtual time has destroyed the mailbox.
  if (const auto mailbox = mailbox_.lock()) mailbox->put(shared_from_this());
}

}  // namespace dutiful
