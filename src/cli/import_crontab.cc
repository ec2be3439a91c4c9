// dutiful import-crontab: converts a crontab to a task file.

#include "tasks/import_crontab.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include <pwd.h>
#include <unistd.h>

#include "cli/input_file.h"
#include "cli/subcommands.h"
#include "commands/user_account.h"

namespace dutiful {
namespace {

struct Arguments {
  std::string file;
  bool system = false;
};

// Whether cron itself expects a user in the sixth field.
bool is_system_crontab(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error).lexically_normal();
  return path == "/etc/crontab" || path.parent_path() == "/etc/cron.d";
}

// A user crontab names no user: it is taken to belong to the user who imports it.
std::optional<std::string> home_of(const std::string& user) {
  if (user.empty()) {
    const passwd* account = getpwuid(getuid());
    return account == nullptr ? std::nullopt : std::optional<std::string>{account->pw_dir};
  }
  const auto account = find_account(user);
  return account ? std::optional{account->home} : std::nullopt;
}

Exit import(const Arguments& arguments, Console& console) {
  const bool system = arguments.system || is_system_crontab(arguments.file);
  const Import import = import_crontab(read_input(arguments.file),
                                       {.source = name_of_input(arguments.file),
                                        .form = system ? CrontabForm::system : CrontabForm::user,
                                        .home_of = home_of});
  console.out << import.task_file;
  for (const auto& [line, message] : import.remarks) {
    console.err << "dutiful: " << name_of_input(arguments.file) << ':' << line
                << ": no equivalent: " << message << '\n';
  }
  return import.remarks.empty() ? Exit::done : Exit::no;
}

}  // namespace

CommandSyntax import_crontab_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "import-crontab",
      .description = "Convert a crontab to a task file",
      .arguments = {{.name = "FILE",
                     .description = "A crontab; - is standard input",
                     .target = &arguments->file}},
      .options = {{.name = "--system",
                   .description = "The sixth field is the user (implied for /etc/crontab and files "
                                  "in /etc/cron.d)",
                   .target = &arguments->system}},
      .details =
          "Prints the task file on standard output. Anything without an exact equivalent is left "
          "out and reported on standard error with its line, and the exit status is 1. Only MAILTO "
          "is replaced: by on_failure, which mails failures, not output.",
      .example =
          "crontab -l | dutiful import-crontab - > tasks.toml\n"
          "  dutiful check tasks.toml",
      .action = [=](Console& console) { return import(*arguments, console); }};
}

}  // namespace dutiful
