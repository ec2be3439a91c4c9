#include <dutiful/run.h>

namespace dutiful {

const char* name_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::cron:
      return "cron";
    case Reason::retry:
      return "retry";
    case Reason::orphan:
      return "orphan";
    case Reason::boot:
      return "boot";
  }
  return "";
}

}  // namespace dutiful
