#include "daemon/run_json.h"

#include <nlohmann/json.hpp>

#include "time/iso8601.h"

namespace dutiful {

nlohmann::ordered_json json_of(const HistoryEntry& entry) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json{}; };
  const CommandResult& result = entry.result;
  const bool recorded = entry.end == HistoryEntry::End::recorded;
  const bool runs = entry.end == HistoryEntry::End::none;
  const auto if_recorded = [&](const auto& value) { return recorded ? Json(value) : Json{}; };
  const auto lateness = lateness_of(entry);
  const std::string error = error_of(entry);
  return {{"id", entry.id == 0 ? Json{} : Json(entry.id)},
          {"taskName", result.run.task},
          {"reason", entry.reason_known ? Json(name_of(result.run.reason)) : Json{}},
          {"pulse", format_utc(result.run.pulse)},
          {"attempt", result.run.attempt},
          {"startedAt", format_utc(result.run.started)},
          {"latenessMs", lateness ? Json(lateness->count()) : Json{}},
          {"durationMs", recorded || runs ? Json(result.duration.count()) : Json{}},
          {"result", result_name_of(entry)},
          {"success", runs ? Json{} : Json(recorded && result.succeeded())},
          {"processId", or_null(result.process)},
          {"exitStatus", or_null(result.exit_status)},
          {"signal", or_null(result.signal)},
          {"timeLimit", result.past_time_limit},
          {"error", error.empty() ? Json{} : Json(error)},
          {"userMs", if_recorded(result.user_time.count())},
          {"systemMs", if_recorded(result.system_time.count())},
          {"memoryMaxBytes", if_recorded(result.memory_max)},
          {"outputBytes", if_recorded(result.output_total)},
          {"output", if_recorded(result.output)}};
}

}  // namespace dutiful
