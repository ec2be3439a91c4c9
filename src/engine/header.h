// The header of a trace.
#pragma once

#include <dutiful/zone.h>

#include "core/policies.h"
#include "trace/lines.h"

namespace dutiful {

// Contains the policies that differ from the default.
[[nodiscard]] TraceHeader header_of(const Zone& zone, const Policies& policies);

}  // namespace dutiful
