#include "runtime/active_run.h"

#include <exception>

namespace dutiful {

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
