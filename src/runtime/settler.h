// Receives the outcome of a run.
#pragma once

#include <string_view>

#include <dutiful/run.h>

#include "core/core.h"

namespace dutiful {

// Called once per run, by any thread.
class Run::Settler {
 public:
  virtual ~Settler() = default;
  virtual void settle(Outcome outcome, std::string_view reason) noexcept = 0;
};

}  // namespace dutiful
