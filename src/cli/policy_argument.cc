#include "cli/policy_argument.h"

#include "trace/lines.h"

namespace dutiful {

CommandSyntax::Option repeated_option(std::string& repeated) {
  return {.name = "--repeated",
          .choices = {"both", "first_only"},
          .description =
              "Whether a minute that occurs twice, because clocks are set back, is due both times "
              "or only the first time",
          .target = &repeated};
}

CommandSyntax::Option override_option(std::string& override) {
  return {.name = "--override",
          .choices = {"keep_history", "reset_history"},
          .description =
              "Whether a task whose cron or retry changed keeps its history or starts over as a "
              "new task",
          .target = &override};
}

RepeatedMinutes read_repeated(const std::string& repeated) {
  return repeated_minutes_of(repeated).value();
}

Override read_override(const std::string& override) {
  return override_of(override).value();
}

}  // namespace dutiful
