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
  console.err << "dutiful: " << on_one_line(message) << '\n';
  return status;
}

// CLI11 says of a mistyped command or option only that a command is required.
void require_known_command(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  const std::string& first = arguments.front();
  if (first == "-h" || first == "--help" || first == "--version") return;
  if (first.starts_with('-'))
    throw UsageError("unknown option " + quote(first) + "; see dutiful --help");
  std::string known;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == first) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw UsageError("there is no command " + quote(first) + "; there are " + known);
}

}  // namespace

Exit run_program(std::vector<std::string> arguments, Console& console) try {
  CLI::App program{"A cron scheduler that keeps its promises.", "dutiful"};
  program.set_version_flag("--version", "dutiful " DUTIFUL_VERSION);
  program.require_subcommand(1);
  program.footer("`dutiful COMMAND --help` tells more of a command.");

  Action chosen;
  add_run(program, chosen);
  add_check(program, chosen);
  add_next(program, chosen);
  add_prev(program, chosen);
  add_explain(program, chosen);
  add_status(program, chosen);
  add_history(program, chosen);
  add_import_crontab(program, chosen);
  add_simulate(program, chosen);
  add_verify(program, chosen);

  require_known_command(program, arguments);
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    program.parse(std::move(arguments));
  } catch (const CLI::Success& request) {  // --help, --version
    program.exit(request, console.out, console.err);
    return Exit::done;
  } catch (const CLI::ParseError& error) {
    const auto commands = program.get_subcommands();
    const std::string command = commands.empty() ? "" : ' ' + commands.front()->get_name();
    return complain(
        console, std::string{error.what()} + "; see dutiful" + command + " --help", Exit::usage);
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
