// What a daemon says about itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/policies.h>
#include <dutiful/status.h>
#include <dutiful/zone.h>

#include "runtime/judgement.h"

namespace dutiful {

struct DaemonInfo {
  Instant at{};
  std::string version{};
  std::string host{};
  std::string file{};   // of the tasks
  std::string state{};  // with all links resolved
  Instant started{};
  SchedulerStatus::Lifecycle lifecycle{};
  std::size_t tasks = 0;
  Zone zone = Zone::utc();
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  bool keeps_history = true;
  std::string trace{};
  std::optional<Judgement> judgement{};  // none: the trace is not checked
};

// One object, as docs/http.md describes it. The offsets of the zone are those from ten years ago to
// ten years ahead, so that a client can show local times without a zone database.
[[nodiscard]] std::string json_of(const DaemonInfo& daemon);

}  // namespace dutiful
