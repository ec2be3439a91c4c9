#include "cli/policy_argument.h"

#include "trace/lines.h"

namespace dutiful {

CommandSyntax::Option repeated_option(std::string& repeated) {
  return {.name = "--repeated",
          .choices = {"both", "first_only"},
          .description =
              "A minute that occurs twice when clocks are set back is due both times, "
              "or the first time only",
          .target = &repeated};
}

CommandSyntax::Option override_option(std::string& override) {
  return {.name = "--override",
          .choices = {"keep_history", "reset_history"},
          .description =
              "A task whose cron or retry has changed goes on from its history, or "
              "starts over as a new one",
          .target = &override};
}

RepeatedMinutes read_repeated(const std::string& repeated) {
  return repeated_minutes_of(repeated).value();
}

Override read_override(const std::string& override) {
  return override_of(override).value();
}

}  // namespace dutiful
