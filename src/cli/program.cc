#include "cli/program.h"

#include <ostream>

#include <dutiful/error.h>
#include <dutiful/version.h>
#include <dutiful/zone.h>

#include "cli/subcommands.h"
#include "text/quote.h"

namespace dutiful {
namespace {

Exit complain(Console& console, std::string_view message, Exit status) {
  console.err << "dutiful: " << on_one_line(message) << '\n';
  return status;
}

}  // namespace

Exit run_program(const std::vector<std::string>& arguments, Console& console) try {
  const ProgramSyntax program{.name = "dutiful",
                              .description = "A cron scheduler that keeps its promises.",
                              .version = DUTIFUL_VERSION,
                              .commands = {run_command(),
                                           check_command(),
                                           next_command(),
                                           prev_command(),
                                           explain_command(),
                                           status_command(),
                                           history_command(),
                                           account_command(),
                                           import_crontab_command(),
                                           simulate_command(),
                                           verify_command()}};
  const CommandSyntax* command = read_command_line(program, arguments, console.out);
  return command == nullptr ? Exit::done : command->action(console);
} catch (const UsageError& error) {
  return complain(console, error.what(), Exit::usage);
} catch (const ZoneError& error) {
  return complain(console, error.what(), Exit::usage);
} catch (const std::exception& error) {
  return complain(console, error.what(), Exit::no);
}

}  // namespace dutiful
