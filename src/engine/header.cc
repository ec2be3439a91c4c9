#include "engine/header.h"

namespace dutiful {

TraceHeader header_of(const Zone& zone, const Policies& policies) {
  TraceHeader header{.zone = zone.name(), .max_concurrent = policies.max_concurrent};
  if (policies.repeated_minutes != RepeatedMinutes::both) {
    header.repeated_minutes = policies.repeated_minutes;
  }
  if (policies.reinitialize != Reinitialize::reject) header.reinitialize = policies.reinitialize;
  if (policies.override != Override::keep_history) header.override = policies.override;
  return header;
}

}  // namespace dutiful
