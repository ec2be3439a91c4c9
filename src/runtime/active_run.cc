#include "runtime/active_run.h"

#include <exception>

namespace dutiful {

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
