#include "cli/expression_argument.h"

namespace dutiful {

CommandSyntax::Argument expression_argument(std::string& expression) {
  return {.name = "EXPR",
          .description = "A cron expression in quotes: 'minute hour day month weekday'",
          .target = &expression,
          .when_more = "an expression is one argument; put quotes around it: '15 3 * * 1-5'"};
}

}  // namespace dutiful
