// Receives the outcome of a run.
#pragma once

#include <string_view>

#include <dutiful/run.h>

#include "core/core.h"
#include "engine/ending.h"

namespace dutiful {

// Called once per run, by any thread.
class Run::Settler {
 public:
  virtual ~Settler() = default;
  virtual void settle(Outcome outcome, std::string_view reason) noexcept = 0;

  // How the process of a command ended, for the report. To be called before the run is settled.
  virtual void note_process(const ProcessEnd& /*end*/) noexcept {}
  static void note_process_of(const Run& run, const ProcessEnd& end) noexcept {
    if (run.settler_) run.settler_->note_process(end);
  }
};

}  // namespace dutiful
