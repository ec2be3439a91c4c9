#include "runtime/active_run.h"

#include <exception>

namespace dutiful {

std::shared_ptr<ActiveRun> make_active_run(const Start& start,
                                           const Core::Task& task,
                                           const CallbackOf& callback,
                                           const std::shared_ptr<Mailbox>& mailbox,
                                           const Clock& clock) {
  const bool limited = callback.time_limit > Duration::zero();
  auto stop =
      std::make_shared<StopState>(limited ? StopState::Limit::some : StopState::Limit::none);
  RunInfo info{.task = task.name,
               .reason = start.reason,
               .pulse = task.progress.pulse,
               .attempt = task.progress.attempt,
               .fence = task.progress.fence,
               .recurrence = task.progress.recurrence,
               .started = start.at,
               .stop = stop->stop(),
               .must_end = stop->must_end(),
               .stop_state = stop};
  auto run = std::make_shared<ActiveRun>(start.task, std::move(info), callback.callback, mailbox);
  run->stop = std::move(stop);
  run->began = clock.monotonic();
  if (limited) run->deadline = later(start.at, callback.time_limit);
  return run;
}

Ending ActiveRun::ending() const {
  if (!timed_out) return {outcome, error, returned, duration};
  std::string reason = "it ran past its time limit";
  if (outcome == Outcome::failure && !error.empty()) reason += ": " + error;
  return {Outcome::failure, std::move(reason), returned, duration};
}

void ActiveRun::settle(Outcome how, std::string_view reason) noexcept {
  outcome = how;
  try {
    error = reason;
  } catch (const std::exception&) {
    error = "out of memory";  // short enough to need none
  }
  // After a crash in virtual time nobody is there to be told.
  if (const auto mailbox = mailbox_.lock()) mailbox->put(shared_from_this());
}

}  // namespace dutiful
