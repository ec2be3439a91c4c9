// A fixture with a clock that is set by hand, and a journal for callbacks.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "support/journal.h"
#include "support/times.h"

namespace dutiful {

class Runtime : public testing::Test {
 protected:
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
  Journal journal;

  [[nodiscard]] Options options() const { return {.zone = Zone::utc(), .clock = clock}; }
};

}  // namespace dutiful
