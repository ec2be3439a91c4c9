// What a trace says of the scheduler that it is of.
#pragma once

#include <dutiful/zone.h>

#include "core/policies.h"
#include "trace/lines.h"

namespace dutiful {

// With the policies that are not the default.
[[nodiscard]] TraceHeader header_of(const Zone& zone, const Policies& policies);

}  // namespace dutiful
