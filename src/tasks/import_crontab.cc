#include "tasks/import_crontab.h"

#include <algorithm>
#include <map>
#include <set>

#include <dutiful/cron.h>

#include "tasks/task_name.h"
#include "tasks/toml_text.h"
#include "text/quote.h"

namespace dutiful {
namespace {

constexpr std::string_view preface =
    "#\n"
    "# Unlike cron, dutiful makes up for missed runs with one run, never runs a task twice at the\n"
    "# same time, and mails nothing, except for on_failure. A minute that does not exist because\n"
    "# clocks are set forward is skipped; a minute that occurs twice because they are set back "
    "runs\n"
    "# twice.\n"
    "\n"
    "[defaults]\n"
    "retry = \"366d\"  # cron never retries: the next run is due before this delay ends\n";

// Mails the end of the output to MAILTO, which is a variable of the task: so there is nothing to
// quote. sendmail reads the recipients from the text, as it does for cron.
constexpr std::string_view mail_failure =
    R"({ printf "To: %s\nSubject: %s failed: %s\n\n" "$MAILTO" "$DUTIFUL_TASK" "$DUTIFUL_ERROR"; )"
    R"(/bin/cat; } | /usr/sbin/sendmail -i -t)";

struct Task {
  std::string name;
  std::vector<std::string> run;  // a single element is for /bin/sh
  std::string cron;
  std::string user;
  std::string directory;
  std::map<std::string, std::string> environment;
  std::string on_failure;
};

// The value that all tasks share; nothing if they differ.
template <typename Value>
std::optional<std::string> common(const std::vector<Task>& tasks, Value value) {
  if (tasks.empty()) return std::nullopt;
  const std::optional<std::string> first = value(tasks.front());
  const bool all =
      first && std::ranges::all_of(tasks, [&](const Task& task) { return value(task) == first; });
  return all ? first : std::nullopt;
}

std::string print_environment(const std::map<std::string, std::string>& environment) {
  std::string out;
  for (const auto& [name, value] : environment) {
    out.append(out.empty() ? "{ " : ", ")
        .append(toml_key(name))
        .append(" = ")
        .append(toml_string(value));
  }
  return "environment = " + out + " }\n";
}

std::string print_run(const std::vector<std::string>& run) {
  if (run.size() == 1) return "run = " + toml_string(run[0]) + '\n';
  std::string out;
  for (const std::string& argument : run)
    out.append(out.empty() ? "[" : ", ").append(toml_string(argument));
  return "run = " + out + "]\n";
}

class Importer {
 public:
  explicit Importer(const ImportOptions& options) : options_(options) {}

  Import import(std::string_view text) {
    std::vector<CrontabLine> lines = read_crontab(text, options_.form);
    for (CrontabLine& line : lines) {
      if (!line.job) continue;
      if (auto directory = directory_of(*line.job)) {
        tasks_.push_back(make_task(*line.job, std::move(*directory)));
      } else {
        line.no_equivalent = no_directory_of(*line.job);
        line.job.reset();
      }
    }
    out_ = toml_comment("Imported from " + options_.source + " by dutiful import-crontab.") + '\n';
    out_ += preface;
    print_defaults();

    auto task = tasks_.begin();
    bool in_comment = false;
    for (const CrontabLine& line : lines) {
      if (!in_comment) out_ += '\n';
      in_comment = !line.job && line.no_equivalent.empty();
      if (!line.no_equivalent.empty()) {
        result_.remarks.push_back({.line = line.number, .message = line.no_equivalent});
        out_ += "# No equivalent: " + line.no_equivalent + ".\n";
      }
      out_ += print_original(line.text) + '\n';
      if (line.job) print_task(*task++);
    }
    result_.task_file = std::move(out_);
    return std::move(result_);
  }

 private:
  Task make_task(const CrontabJob& job, std::string directory) {
    // The variables that cron sets for every command; HOME, LOGNAME and USER depend on the user.
    std::map<std::string, std::string> environment = job.environment;
    environment.try_emplace("PATH", "/usr/bin:/bin");
    const std::string shell = environment.try_emplace("SHELL", "/bin/sh").first->second;

    const auto mail = environment.find("MAILTO");
    const bool is_mailed = mail != environment.end() && !mail->second.empty();
    Task task{.name = unique_name(job.command),
              .run = {},
              .cron = job.cron,
              .user = job.user,
              .directory = std::move(directory),
              .environment = std::move(environment),
              .on_failure = std::string{is_mailed ? mail_failure : ""}};
    const bool blank = job.command.find_first_not_of(" \t\r\n") == std::string::npos;
    if (!job.input.empty()) {
      task.run = {
          "/bin/sh", "-c", R"(printf %s "$2" | "$0" -c "$1")", shell, job.command, job.input};
    } else if (shell != "/bin/sh" || blank) {
      task.run = {shell, "-c", job.command};
    } else {
      task.run = {job.command};
    }
    return task;
  }

  // Where cron runs it, if that is known.
  [[nodiscard]] std::optional<std::string> directory_of(const CrontabJob& job) const {
    if (const auto home = job.environment.find("HOME"); home != job.environment.end())
      return home->second;
    return options_.home_of(job.user);
  }

  static std::string no_directory_of(const CrontabJob& job) {
    return "cron runs it in the home directory of " +
           (job.user.empty() ? "its owner" : "user " + quote(job.user)) +
           ", which is unknown on this host; set HOME above it";
  }

  std::string unique_name(std::string_view command) {
    const std::string name = name_of_command(command);
    for (int& count = names_[name];;) {
      std::string candidate = ++count == 1 ? name : name + '-' + std::to_string(count);
      if (used_.insert(candidate).second) return candidate;
    }
  }

  // Settings that all tasks share go into [defaults].
  void print_defaults() {
    user_ = common(tasks_, [](const Task& task) { return task.user; }).value_or("");
    directory_ = common(tasks_, [](const Task& task) { return task.directory; }).value_or("");
    on_failure_ = common(tasks_, [](const Task& task) { return task.on_failure; }).value_or("");
    if (!tasks_.empty()) {
      for (const auto& [name, value] : tasks_.front().environment) {
        const auto value_of = [&variable = name](const Task& task) -> std::optional<std::string> {
          const auto found = task.environment.find(variable);
          if (found == task.environment.end()) return std::nullopt;
          return found->second;
        };
        if (common(tasks_, value_of)) environment_[name] = value;
      }
    }
    if (!user_.empty()) out_ += "user = " + toml_string(user_) + '\n';
    if (!directory_.empty()) out_ += "directory = " + toml_string(directory_) + '\n';
    if (!environment_.empty()) out_ += print_environment(environment_);
    if (!on_failure_.empty()) out_ += "on_failure = " + toml_string(on_failure_) + '\n';
  }

  void print_task(const Task& task) {
    out_ += "[[task]]\nname = " + toml_string(task.name) + "\ncron = " + toml_string(task.cron) +
            '\n' + print_run(task.run);
    // 29 February is the only day that may be more than a year away; around 2100 it is eight years.
    const auto fields = CronExpression::parse(task.cron).fields();
    if (fields.months == 1U << 2 && fields.days == 1U << 29 && fields.weekdays == 0)
      out_ += "retry = \"2923d\"\n";
    if (task.user != user_) out_ += "user = " + toml_string(task.user) + '\n';
    if (task.directory != directory_ && !task.directory.empty())
      out_ += "directory = " + toml_string(task.directory) + '\n';
    std::map<std::string, std::string> own = task.environment;
    std::erase_if(own,
                  [this](const auto& variable) { return environment_.contains(variable.first); });
    if (!own.empty()) out_ += print_environment(own);
    if (task.on_failure != on_failure_)
      out_ += "on_failure = " + toml_string(task.on_failure) + '\n';
  }

  // A comment is kept as far as TOML allows.
  static std::string print_original(std::string_view line) {
    const std::string_view content =
        line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!content.starts_with('#')) return toml_comment(line);
    const std::string comment = toml_comment(content.substr(1));
    return content.starts_with("# ") ? '#' + comment.substr(2) : comment;
  }

  const ImportOptions& options_;
  std::string out_;
  Import result_;
  std::vector<Task> tasks_;
  std::map<std::string, int> names_;
  std::set<std::string> used_;
  std::string user_;
  std::string directory_;
  std::string on_failure_;
  std::map<std::string, std::string> environment_;
};

}  // namespace

Import import_crontab(std::string_view text, const ImportOptions& options) {
  return Importer{options}.import(text);
}

}  // namespace dutiful
