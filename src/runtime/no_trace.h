// A trace that keeps nothing.
#pragma once

#include "trace/event.h"

namespace dutiful {

class NoTrace : public TraceSink {
 public:
  void on(Instant /*at*/, const TraceEvent& /*event*/) override {}
  [[nodiscard]] bool listens() const override { return false; }
};

}  // namespace dutiful
