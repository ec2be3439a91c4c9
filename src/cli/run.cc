// dutiful run: runs the tasks of a task file until it is stopped.

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <unistd.h>

#include <dutiful/errors.h>

#include "cli/duration_argument.h"
#include "cli/input_file.h"
#include "cli/number_argument.h"
#include "cli/policy_argument.h"
#include "cli/retention_argument.h"
#include "cli/state_argument.h"
#include "cli/subcommands.h"
#include "commands/spawn.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "http/host.h"
#include "store/sqlite/state_file.h"
#include "text/quote.h"

namespace dutiful {
namespace {

struct Arguments {
  std::string file;
  std::optional<std::string> state;
  std::optional<std::string> grace;
  std::string kill_grace = "10s";
  std::string max_concurrent = "64";
  std::string history = "100,7d";
  std::string history_output = "8KiB";
  std::optional<std::string> log;
  std::optional<std::string> trace;
  std::string repeated = "both";
  std::string override = "keep_history";
  std::vector<std::string> listen;
  std::vector<std::string> listen_host;
  std::optional<std::string> listen_token_file;
  std::optional<std::string> metrics_tasks;
  std::optional<std::string> max_overdue;
  bool allow_empty = false;
  bool verify = false;
  bool verbose = false;
  bool output = false;
};

// A command that runs needs twice as much memory, and the history refuses longer values.
constexpr std::uint64_t history_output_max = std::uint64_t{1024} * 1024;

// A pipe without a writer would block the daemon when it reloads the file.
std::string read_regular(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UsageError("cannot read " + name_of_input(file) + ": not a regular file");
  }
  return read_input(file);
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return resolve_state(one) == resolve_state(other) ||
         std::filesystem::equivalent(one, other, error);
}

// The trace would be appended to a file that holds something else.
void refuse_as_trace(const std::string& trace, const std::string& file, const std::string& state) {
  if (is_same_file(trace, file)) {
    throw UsageError("--trace: " + quote(trace) + " is the task file " + quote(file) +
                     "; use a separate file");
  }
  for (const char* ending : {"",
                             "-owner",
                             "-wal",
                             "-shm",
                             "-journal",
                             "-commands",
                             "-commands-next",
                             "-history",
                             "-history-wal",
                             "-history-shm",
                             "-history-journal",
                             "-failures",
                             "-failures-journal"}) {
    if (!is_same_file(trace, file_beside(state, ending))) continue;
    throw UsageError("--trace: " + quote(trace) + " belongs to the state " + quote(state) +
                     "; use a separate file");
  }
}

http::AccessToken read_token(const std::string& file) {
  try {
    return http::AccessToken::read(file);
  } catch (const std::exception& error) {
    throw UsageError(std::string{"--listen-token-file: "} + error.what());
  }
}

WebOptions web_options_of(const Arguments& arguments) {
  WebOptions web;
  if (arguments.metrics_tasks) {
    web.metrics_tasks = read_number("--metrics-tasks", *arguments.metrics_tasks, {});
  }
  if (arguments.max_overdue) {
    web.overdue_max = read_duration("--max-overdue", *arguments.max_overdue);
  }
  try {
    for (const std::string& address : arguments.listen) {
      web.addresses.push_back(http::parse_listen_address(address));
    }
    for (const std::string& host : arguments.listen_host) {
      web.hosts.push_back(http::parse_listen_host(host));
    }
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
  if (arguments.listen_token_file) web.token = read_token(*arguments.listen_token_file);
  for (const http::ListenAddress& address : web.addresses) {
    if (!address.needs_token() || web.token) continue;
    throw UsageError("--listen: other machines can reach " + quote(address.to_string()) +
                     ", so requests need a token; add --listen-token-file FILE, or listen on "
                     "127.0.0.1 or a Unix socket");
  }
  for (const auto& [option, is_given] :
       {std::pair{"--listen-host", !web.hosts.empty()},
        std::pair{"--listen-token-file", web.token.has_value()},
        std::pair{"--metrics-tasks", arguments.metrics_tasks.has_value()},
        std::pair{"--max-overdue", arguments.max_overdue.has_value()}}) {
    if (is_given && web.addresses.empty()) {
      throw UsageError(std::string{option} + " concerns HTTP; add --listen ADDRESS");
    }
  }
  return web;
}

DaemonOptions options_of(const Arguments& arguments, Console& console) {
  if (arguments.file == "-") {
    throw UsageError(
        "cannot read the tasks from standard input, because SIGHUP reloads them; give a file");
  }
  DaemonOptions options{
      .file = name_of_input(arguments.file),
      .read_file = [file = arguments.file] { return read_regular(file); },
      .state = arguments.state.value_or(default_state_of(arguments.file)),
      .now = console.now,
      .repeated_minutes = read_repeated(arguments.repeated),
      .override = read_override(arguments.override),
      .allow_empty = arguments.allow_empty,
      .kill_grace = read_duration("--kill-grace", arguments.kill_grace),
      .max_concurrent = read_number("--max-concurrent", arguments.max_concurrent, {}),
      .trace = arguments.trace.value_or(""),
      .verify = arguments.verify,
      .verbose = arguments.verbose,
      .output = arguments.output};
  read_retention("--history", arguments.history, options.history);
  options.history.output_bytes =
      read_size("--history-output", arguments.history_output, history_output_max);
  options.web = web_options_of(arguments);
  if (arguments.trace == "") throw UsageError("--trace: the file name is empty");
  if (arguments.verify && !arguments.trace) {
    throw UsageError("--verify needs a trace; add --trace FILE");
  }
  if (options.state.empty()) throw UsageError("--state: the file name is empty");
  if (arguments.trace) refuse_as_trace(*arguments.trace, arguments.file, options.state);
  if (arguments.grace) options.grace = read_duration("--grace", *arguments.grace);
  const bool human = arguments.log ? *arguments.log == "human" : isatty(STDOUT_FILENO) != 0;
  options.log = human ? LogFormat::human : LogFormat::json;
  return options;
}

std::string remedy_of(const std::error_code& code) {
  if (code == std::errc::resource_unavailable_try_again) {
    return "; raise the limit on processes (ulimit -u, TasksMax=)";
  }
  if (code == std::errc::too_many_files_open || code == std::errc::too_many_files_open_in_system) {
    return "; raise the limit on open files (ulimit -n, LimitNOFILE=)";
  }
  return "";
}

std::unique_ptr<Daemon> make_daemon(DaemonOptions options) {
  try {
    return std::make_unique<Daemon>(std::move(options));
  } catch (const std::system_error& error) {
    throw std::runtime_error("cannot start the daemon: " + error.code().message() +
                             remedy_of(error.code()));
  }
}

Exit run(const Arguments& arguments, Console& console) {
  fill_standard_descriptors();
  block_operator_signals();
  DaemonOptions options = options_of(arguments, console);
  const TaskFile file = parse_task_file(options.read_file());
  for (const Problem& problem : file.problems) {
    console.err << "dutiful: " << place_in(options.file, problem.place) << ": " << problem.message
                << '\n';
  }
  if (!file.problems.empty()) return Exit::no;
  read_state([&] { refuse_no_state(options.state); });
  try {
    make_daemon(std::move(options))->run(file.tasks);
  } catch (const StoreError& error) {
    throw UsageError(error.what());  // as for a state that cannot even be opened
  } catch (const TraceError& error) {
    throw UsageError(error.what());
  }
  return Exit::done;
}

}  // namespace

CommandSyntax run_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "run",
      .description = "Run the tasks of a task file until stopped",
      .arguments = {{.name = "FILE", .description = "The task file", .target = &arguments->file}},
      .options =
          {{.name = "--state",
            .value = "FILE",
            .description =
                "State file, an SQLite database (default: beside the task file, with .db)",
            .target = &arguments->state},
           {.name = "--grace",
            .value = "DURATION",
            .description = "How long commands may take to finish after a stop is requested "
                           "(default: no limit)",
            .target = &arguments->grace},
           {.name = "--kill-grace",
            .value = "DURATION",
            .description = "Time between SIGTERM and SIGKILL for a command that is terminated",
            .target = &arguments->kill_grace},
           {.name = "--max-concurrent",
            .value = "N",
            .description = "Maximum number of commands that run at the same time; 0 means no limit",
            .target = &arguments->max_concurrent},
           repeated_option(arguments->repeated),
           override_option(arguments->override),
           {.name = "--allow-empty",
            .description = "On SIGHUP, accept a task file without tasks and remove every task",
            .target = &arguments->allow_empty},
           {.name = "--history",
            .value = "AMOUNT",
            .description = "Which runs of each task to keep in the history: a number of them, an "
                           "age such as 14d, or both, which keeps a run if either does",
            .target = &arguments->history},
           {.name = "--history-output",
            .value = "SIZE",
            .description = "How much of the end of its output to keep with each run, for the "
                           "newest 100 runs of a task; 0 keeps none",
            .target = &arguments->history_output},
           {.name = "--listen",
            .value = "ADDRESS",
            .description = "Serve a page for browsers, the API, metrics and probes over HTTP on "
                           "this address: a port "
                           "(of 127.0.0.1), 127.0.0.1:8470, [::1]:8470 or "
                           "unix:/run/dutiful.sock; may be given several times",
            .target = &arguments->listen},
           {.name = "--listen-token-file",
            .value = "FILE",
            .description = "Private file with the token that requests must carry; an address that "
                           "other machines can reach needs it",
            .target = &arguments->listen_token_file},
           {.name = "--listen-host",
            .value = "NAME",
            .description = "A name by which clients may address this server, such as that of a "
                           "reverse proxy; may be given several times",
            .target = &arguments->listen_host},
           {.name = "--metrics-tasks",
            .value = "N",
            .description = "How many tasks have metrics of their own; the others are summed up "
                           "(default: 1000)",
            .target = &arguments->metrics_tasks},
           {.name = "--max-overdue",
            .value = "DURATION",
            .description = "How late a start may be before /readyz reports that the daemon is not "
                           "ready (default: 5m)",
            .target = &arguments->max_overdue},
           {.name = "--log",
            .choices = {"human", "json"},
            .description = "Log format (default: human on a terminal, json otherwise)",
            .target = &arguments->log},
           {.name = "--trace",
            .value = "FILE",
            .description = "Append a trace of every start, end, stop and crash to this file, for "
                           "dutiful verify",
            .target = &arguments->trace},
           {.name = "--verify",
            .description = "Check the trace against the theory while it is written",
            .target = &arguments->verify},
           {.name = "--output",
            .description = "Log the output of commands",
            .target = &arguments->output},
           {.name = "--verbose", .description = "Log debug events", .target = &arguments->verbose}},
      .details =
          "On SIGTERM or SIGINT, the daemon starts nothing more and exits when its commands have "
          "finished; a second signal terminates the commands. On SIGHUP, it reloads the task "
          "file. A file with problems is rejected, and so is a file without tasks unless "
          "--allow-empty is given; the tasks then stay as they were.",
      .example = "dutiful run tasks.toml --grace 30s",
      .action = [=](Console& console) { return run(*arguments, console); }};
}

}  // namespace dutiful
