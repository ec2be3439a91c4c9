#include "cli/duration_argument.h"

#include "cli/command_line.h"
#include "time/duration.h"

namespace dutiful {

Duration read_duration(const char* option, const std::string& text) {
  const auto parsed = parse_duration(text);
  if (const auto* fault = std::get_if<DurationFault>(&parsed)) {
    throw UsageError(std::string{option} + ": " + explain_fault(text, *fault));
  }
  return std::get<Duration>(parsed);
}

}  // namespace dutiful
