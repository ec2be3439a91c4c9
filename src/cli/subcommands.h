// The subcommands of the program, each in the file of its name; `next` and `prev` are in
// occurrences.cc.
#pragma once

#include "cli/command_line.h"

namespace dutiful {

[[nodiscard]] CommandSyntax run_command();
[[nodiscard]] CommandSyntax check_command();
[[nodiscard]] CommandSyntax next_command();
[[nodiscard]] CommandSyntax prev_command();
[[nodiscard]] CommandSyntax explain_command();
[[nodiscard]] CommandSyntax status_command();
[[nodiscard]] CommandSyntax history_command();
[[nodiscard]] CommandSyntax account_command();
[[nodiscard]] CommandSyntax import_crontab_command();
[[nodiscard]] CommandSyntax simulate_command();
[[nodiscard]] CommandSyntax verify_command();

}  // namespace dutiful
