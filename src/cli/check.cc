// dutiful check: reports the problems of a task file, or shows what it would do.

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include <nlohmann/json.hpp>

#include <dutiful/calendar.h>

#include "cli/input_file.h"
#include "cli/json.h"
#include "cli/policy_argument.h"
#include "cli/subcommands.h"
#include "cron/english.h"
#include "tasks/task_file.h"
#include "tasks/task_warnings.h"
#include "text/characters.h"
#include "text/quote.h"
#include "time/duration.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

struct Arguments {
  std::string file;
  std::string repeated = "both";
  bool json = false;
};

std::vector<std::string> next_runs(const TaskDefinition& task,
                                   const Calendar& calendar,
                                   Instant now) {
  const auto cron = CronExpression::parse(task.cron);
  std::vector<std::string> runs;
  for (Instant at = now; runs.size() < runs_shown;) {
    const auto next = calendar.find_next(cron, at);
    if (!next) break;
    runs.push_back(format_second(*next, calendar.zone().offset_at(*next)));
    at = *next;
  }
  return runs;
}

// An argument as one would type it into a shell.
std::string quoted_for_shell(const std::string& argument) {
  const auto is_plain = [](char c) {
    return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view{"_-+=%@:,./"}.find(c) != std::string_view::npos;
  };
  if (!argument.empty() && std::ranges::all_of(argument, is_plain)) return argument;
  if (argument.find_first_of("\"\\$`!") == std::string::npos) return '"' + argument + '"';
  std::string out = "'";
  for (const char c : argument) out.append(c == '\'' ? "'\\''" : std::string{c});
  return out + '\'';
}

// The command as one would type it; further lines are indented to stand below the first. Only
// characters that could forge a line are escaped.
std::string command_line(const std::vector<std::string>& arguments) {
  std::string out;
  if (arguments.size() == 3 && arguments[0] == "/bin/sh" && arguments[1] == "-c") {
    for (std::string_view rest = arguments[2]; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      out.append(out.empty() ? "" : "\n         ").append(on_one_line(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
  }
  for (const std::string& argument : arguments) {
    out.append(out.empty() ? "" : " ").append(on_one_line(quoted_for_shell(argument)));
  }
  return out;
}

void print_notifications(const Notifications& notifications, std::ostream& out) {
  const auto print = [&](const std::string& when, const std::vector<std::string>& arguments) {
    if (arguments.empty()) return;
    out << "  notify " << when << ":\n         " << command_line(arguments) << '\n';
  };
  if (notifications.after) {
    const std::string after = std::to_string(*notifications.after);
    print("at failure " + after + " in a row", notifications.on_failure);
    print("at a success after failure " + after, notifications.on_recovery);
  } else {
    print("at every failure", notifications.on_failure);
    print("at a success after a failure", notifications.on_recovery);
  }
  print("at every success", notifications.on_success);
}

void print_task(const TaskDefinition& task,
                const Calendar& calendar,
                Instant now,
                std::ostream& out) {
  out << escape(task.name) << ": " << to_english(CronExpression::parse(task.cron)) << '\n'
      << "  run    " << command_line(task.command.arguments) << '\n';
  if (!task.command.user.empty()) out << "  as     " << escape(task.command.user) << '\n';
  if (!task.command.directory.empty()) out << "  in     " << escape(task.command.directory) << '\n';
  out << "  retry  after " << format_duration(task.retry_delay) << '\n';
  if (task.time_limit > Duration::zero())
    out << "  limit  " << format_duration(task.time_limit) << '\n';
  print_notifications(task.notifications, out);
  const char* head = "  next   ";
  for (const std::string& run : next_runs(task, calendar, now)) {
    out << head << run << '\n';
    head = "         ";
  }
}

nlohmann::ordered_json to_json(const TaskDefinition& task, const Calendar& calendar, Instant now) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json{} : nlohmann::ordered_json(text);
  };
  nlohmann::ordered_json document{{"name", task.name},
                                  {"line", task.place.line},
                                  {"cron", task.cron},
                                  {"english", to_english(CronExpression::parse(task.cron))},
                                  {"command", task.command.arguments},
                                  {"user", or_null(task.command.user)},
                                  {"directory", or_null(task.command.directory)},
                                  {"environment", nlohmann::ordered_json::array()},
                                  {"retryMs", task.retry_delay.count()},
                                  {"timeoutMs", nullptr},
                                  {"onFailure", task.notifications.on_failure},
                                  {"onRecovery", task.notifications.on_recovery},
                                  {"onSuccess", task.notifications.on_success},
                                  {"notifyAfter", nullptr},
                                  {"next", next_runs(task, calendar, now)}};
  // The names only: values are often secrets, and output often lands in logs.
  for (const auto& [name, value] : task.command.environment)
    document["environment"].push_back(name);
  if (task.time_limit > Duration::zero()) document["timeoutMs"] = task.time_limit.count();
  if (task.notifications.after) document["notifyAfter"] = *task.notifications.after;
  return document;
}

nlohmann::ordered_json to_json(const Problem& problem) {
  return {
      {"line", problem.place.line}, {"column", problem.place.column}, {"message", problem.message}};
}

// The same, with the error that a scheduler would have thrown (RULES E).
nlohmann::ordered_json with_error(const Problem& problem) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json{}; };
  Json document = to_json(problem);
  document["error"] = problem.error.empty() ? Json{} : Json(problem.error);
  document["registrationIndex"] = or_null(problem.registration_index);
  document["received"] = or_null(problem.received);
  for (const auto& [name, value] : problem.details)
    document[std::string{name}] = std::visit([](const auto& held) { return Json(held); }, value);
  return document;
}

void complain(const std::vector<Problem>& problems,
              const std::string& file,
              std::string_view kind,
              std::ostream& err) {
  for (const Problem& problem : problems) {
    err << "dutiful: " << place_in(name_of_input(file), problem.place) << ": " << kind
        << problem.message << '\n';
  }
}

Exit refuse(const Arguments& arguments, const std::vector<Problem>& problems, Console& console) {
  if (arguments.json) {
    nlohmann::ordered_json document{
        {"file", arguments.file}, {"valid", false}, {"problems", nlohmann::ordered_json::array()}};
    for (const Problem& problem : problems) document["problems"].push_back(with_error(problem));
    console.out << to_text(document) << '\n';
  }
  complain(problems, arguments.file, "", console.err);
  return Exit::no;
}

Exit check(const Arguments& arguments, Console& console) {
  const TaskFile file = parse_task_file(read_input(arguments.file));
  if (!file.problems.empty()) return refuse(arguments, file.problems, console);

  const Calendar calendar{Zone::host(), read_repeated(arguments.repeated)};
  const Instant now = console.now();
  const std::vector<Problem> warnings = find_warnings(file.tasks, calendar, now);
  if (arguments.json) {
    nlohmann::ordered_json document{{"file", arguments.file},
                                    {"valid", true},
                                    {"zone", calendar.zone().name()},
                                    {"tasks", nlohmann::ordered_json::array()},
                                    {"warnings", nlohmann::ordered_json::array()}};
    for (const Problem& warning : warnings) document["warnings"].push_back(to_json(warning));
    for (const TaskDefinition& task : file.tasks)
      document["tasks"].push_back(to_json(task, calendar, now));
    console.out << to_text(document) << '\n';
  } else {
    for (const TaskDefinition& task : file.tasks) print_task(task, calendar, now, console.out);
  }
  complain(warnings, arguments.file, "warning: ", console.err);
  return Exit::done;
}

}  // namespace

CommandSyntax check_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "check",
      .description = "Check a task file and show when its tasks run",
      .arguments = {{.name = "FILE",
                     .description = "Task file; - is standard input",
                     .target = &arguments->file}},
      .options = {repeated_option(arguments->repeated),
                  {.name = "--json",
                   .description = "Print one JSON object",
                   .target = &arguments->json}},
      .details =
          "Reports the problems, each with its line and column, and exits with 1. Warnings about "
          "likely mistakes do not change the exit status.",
      .example = "dutiful check tasks.toml",
      .action = [=](Console& console) { return check(*arguments, console); }};
}

}  // namespace dutiful
