#include "cli/program.h"

#include <algorithm>
#include <ostream>

#include <CLI/CLI.hpp>

#include <dutiful/error.h>
#include <dutiful/zone.h>

#include "cli/commands.h"
#include "text/quote.h"

namespace dutiful {
namespace {

Exit complain(Console& console, std::string_view message, Exit status) {
  console.err << "dutiful: " << message << '\n';
  return status;
}

// CLI11 says of a mistyped command only that one is required.
void require_known_command(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return;
  std::string known;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == arguments.front()) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw UsageError("there is no command " + quote(arguments.front()) + "; there are " + known);
}

}  // namespace

Exit run_program(std::vector<std::string> arguments, Console& console) try {
  CLI::App program{"A cron scheduler that keeps its promises.", "dutiful"};
  program.set_version_flag("--version", "dutiful " DUTIFUL_VERSION);
  program.require_subcommand(1);
  program.footer("`dutiful COMMAND --help` tells more of a command.");

  Action chosen;
  add_next(program, chosen);
  add_prev(program, chosen);
  add_explain(program, chosen);

  require_known_command(program, arguments);
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    program.parse(std::move(arguments));
  } catch (const CLI::Success& request) {  // --help, --version
    program.exit(request, console.out, console.err);
    return Exit::done;
  } catch (const CLI::ParseError& error) {
    return complain(console, std::string{error.what()} + "; see dutiful --help", Exit::usage);
  }
  return chosen(console);
} catch (const UsageError& error) {
  return complain(console, error.what(), Exit::usage);
} catch (const ZoneError& error) {
  return complain(console, error.what(), Exit::usage);
} catch (const std::exception& error) {
  return complain(console, error.what(), Exit::no);
}

}  // namespace dutiful
