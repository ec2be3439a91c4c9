// What the tests of commands share.
#pragma once

#include <memory>
#include <string>

#include <dutiful/run.h>

#include "runtime/settler.h"

namespace dutiful {

[[nodiscard]] inline RunInfo run_info_of(const std::string& task) {
  return {.task = task,
          .reason = Reason::cron,
          .pulse = Instant{},
          .attempt = 1,
          .fence = 1,
          .started = Instant{}};
}

// A run whose end is of no interest.
[[nodiscard]] inline Run run_of(const std::string& task) {
  class DUTIFUL_HIDDEN Nobody : public Run::Settler {
    void settle(Outcome /*outcome*/, std::string_view /*reason*/) noexcept override {}
  };
  return Run{run_info_of(task), std::make_shared<Nobody>()};
}

}  // namespace dutiful
