#include "tasks/task_warnings.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <unistd.h>

#include "commands/environment.h"
#include "commands/search_path.h"
#include "commands/user_account.h"
#include "cron/cause.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

namespace fs = std::filesystem;

// The first minute of the expression that the clocks will skip before the last run that is shown.
std::optional<CivilMinute> find_swallowed(const CronExpression& cron,
                                          const Calendar& calendar,
                                          Instant now) {
  Instant until = now;
  for (int i = 0; i < runs_shown; ++i) {
    const auto next = calendar.find_next(cron, until);
    if (!next) break;
    until = *next;
  }
  for (const Calendar::Gap& gap : calendar.gaps(now, until)) {
    const auto minute = cron.find_at_or_after(gap.begin);
    if (minute && *minute < gap.end) return minute;
  }
  return std::nullopt;
}

}  // namespace

class WarningSearch::Impl {
 public:
  Impl(std::span<const TaskDefinition> tasks, Calendar calendar, Instant now)
      : left_(tasks), calendar_(std::move(calendar)), now_(now) {
    if (tasks.empty())
      warnings_.push_back({.message = "the file has no tasks; add one with [[task]]"});
  }

  void step() {
    examine(left_.front());
    left_ = left_.subspan(1);
  }

  [[nodiscard]] bool is_done() const { return left_.empty(); }

  std::vector<Problem> take() { return std::exchange(warnings_, {}); }

 private:
  void examine(const TaskDefinition& task) {
    task_ = &task;
    examine_schedule(CronExpression::parse(task.cron));
    examine_sameness();
    if (!task.command.user.empty()) examine_user();
    if (!task.command.directory.empty()) examine_directory();
    examine_program("", task.command.arguments.front());
    examine_notifications(task.notifications);
  }

  void warn(const std::string& message) {
    warnings_.push_back(
        {.place = task_->place, .message = "task " + quote(task_->name) + ' ' + message});
  }

  void examine_schedule(const CronExpression& cron) {
    if (cron.never_matches()) {
      warn("is never due: " + no_occurrence(cron, task_->cron, Direction::next));
    } else if (const auto minute = find_swallowed(cron, calendar_, now_)) {
      warn("will not run at " + format_minute(*minute) +
           ": that minute does not exist, because clocks are set forward");
    }
  }

  void examine_sameness() {
    if (task_->command_is_shared) return;  // shared on purpose
    const Command& command = task_->command;
    const auto [first, is_new] = commands_.try_emplace(
        std::tuple{command.arguments, command.directory, command.environment, command.user}, task_);
    if (is_new) return;
    warn("runs the same command as task " + quote(first->second->name) + " at line " +
         std::to_string(first->second->place.line) + "; they may run at the same time");
  }

  void examine_user() {
    const std::string& user = task_->command.user;
    const auto [known, is_new] = users_.try_emplace(user);
    if (is_new) known->second = trouble_with(user);
    if (!known->second.empty()) warn("runs as user " + quote(user) + ", " + known->second);
  }

  // Why a command cannot run as that user; empty if it can. May take long, because the host may ask
  // a server about its users.
  static std::string trouble_with(const std::string& user) {
    try {
      const auto account = find_account(user);
      if (!account) return "which does not exist on this host";
      return geteuid() == 0 || geteuid() == account->user ? "" : "which requires root";
    } catch (const std::system_error& error) {
      return "which cannot be looked up: " + error.code().message();
    }
  }

  void examine_directory() {
    std::error_code error;
    const auto status = fs::status(task_->command.directory, error);
    // The task's user may be permitted to look into a directory that we are not.
    if (fs::is_directory(status) || error == std::errc::permission_denied) return;
    warn("runs in the directory " + quote(task_->command.directory) + ", which " +
         (fs::exists(status) ? "is not a directory" : "does not exist"));
  }

  void examine_notifications(const Notifications& notifications) {
    const auto examine_one = [this](const char* key, const std::vector<std::string>& arguments) {
      if (arguments.empty()) return;
      examine_program(std::string{"has an "} + key + " that ", arguments.front());
    };
    examine_one("on_failure", notifications.on_failure);
    examine_one("on_recovery", notifications.on_recovery);
    examine_one("on_success", notifications.on_success);
    if (task_->sets_notify_after && notifications.on_failure.empty() &&
        notifications.on_recovery.empty()) {
      warn("sets notify_after, but has neither on_failure nor on_recovery");
    }
  }

  // `what` precedes "runs the program" in a warning.
  void examine_program(const std::string& what, const std::string& program) {
    if (program.find('/') != std::string::npos) {
      const fs::path path = fs::path{task_->command.directory} / program;
      std::error_code error;
      if (!fs::exists(path, error)) {
        if (!error || error == std::errc::no_such_file_or_directory)
          warn(what + "runs the program " + quote(program) + ", which does not exist");
      } else if (!is_executable(path)) {
        warn(what + "runs " + quote(program) + ", which is not executable");
      }
      return;
    }
    for (const std::string& place : places_of(program, environment())) {
      if (is_executable(fs::path{task_->command.directory} / place)) return;
    }
    warn(what + "runs the program " + quote(program) + ", which is not in any directory of PATH");
  }

  [[nodiscard]] static bool is_executable(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  }

  [[nodiscard]] Environment environment() const {
    Environment variables = task_->command.environment;
    variables.insert(own_environment_.begin(), own_environment_.end());
    return variables;
  }

  std::span<const TaskDefinition> left_;
  const Calendar calendar_;
  const Instant now_;
  const Environment own_environment_ = daemon_environment();
  std::map<std::string, std::string> users_;  // why commands cannot run as each; empty: they can
  const TaskDefinition* task_ = nullptr;
  std::map<std::tuple<std::vector<std::string>,
                      std::string,
                      std::map<std::string, std::string>,
                      std::string>,
           const TaskDefinition*>
      commands_;
  std::vector<Problem> warnings_;
};

WarningSearch::WarningSearch(std::span<const TaskDefinition> tasks, Calendar calendar, Instant now)
    : impl_(std::make_unique<Impl>(tasks, std::move(calendar), now)) {}
WarningSearch::~WarningSearch() = default;

void WarningSearch::step() {
  impl_->step();
}
bool WarningSearch::is_done() const {
  return impl_->is_done();
}
std::vector<Problem> WarningSearch::take() {
  return impl_->take();
}

std::vector<Problem> find_warnings(std::span<const TaskDefinition> tasks,
                                   const Calendar& calendar,
                                   Instant now) {
  WarningSearch search{tasks, calendar, now};
  while (!search.is_done()) search.step();
  return search.take();
}

}  // namespace dutiful
