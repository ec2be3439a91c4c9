#include "cli/expression_argument.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "text/quote.h"

namespace dutiful {

void add_expression(CLI::App& command, std::string& expression) {
  command.add_option("EXPR", expression)
      ->required()
      ->type_name("")
      ->description("A cron expression in quotes: 'minute hour day month weekday'");
  command.allow_extras();
}

void require_one_expression(const CLI::App& command, const std::string& expression) {
  for (const std::string& word : command.remaining()) {
    if (word == "--") continue;  // the end of the options; CLI11 counts it as left over
    if (word.starts_with('-') && word.size() > 1) {
      throw UsageError("unknown option " + quote(word) + "; see dutiful " + command.get_name() +
                       " --help");
    }
    throw UsageError("expected one expression, got the words " + quote(expression) + " and " +
                     quote(word) + "; put quotes around it: dutiful " + command.get_name() +
                     " '15 3 * * 1-5'");
  }
}

}  // namespace dutiful
