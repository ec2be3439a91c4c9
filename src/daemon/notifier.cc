#include "daemon/notifier.h"

#include <algorithm>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "core/best_effort.h"
#include "runtime/settler.h"
#include "text/quote.h"

namespace dutiful {
namespace {

constexpr const char* on_failure = "on_failure";
constexpr const char* on_recovery = "on_recovery";
constexpr const char* on_success = "on_success";

// How many notifications are dropped, while there are too many, before that is reported again.
constexpr std::size_t dropped_per_report = 1'000;

bool counts_failures(const Notifications& notifications) {
  return !notifications.on_failure.empty() || !notifications.on_recovery.empty();
}

// The run as its notification knows it. It has ended, so it keeps nothing of the scheduler alive.
RunInfo info_of(const RunInfo& run) {
  RunInfo info = run;
  info.stop = {};
  info.must_end = {};
  info.stop_state.reset();
  return info;
}

}  // namespace

const std::vector<std::string>& Notifier::Waiting::arguments() const {
  const Notifications& notifications = settings->notifications;
  if (key == on_failure) return notifications.on_failure;
  return key == on_recovery ? notifications.on_recovery : notifications.on_success;
}

std::size_t Notifier::Waiting::size() const {
  return sizeof *this + run.task.size() + beside.input.size();
}

// Receives the end of a notification, however it ends.
class DUTIFUL_HIDDEN Notifier::Ending : public Run::Settler {
 public:
  Ending(Notifier& notifier, std::string task, std::string key)
      : notifier_(notifier), task_(std::move(task)), key_(std::move(key)) {}

  void settle(Outcome outcome, std::string_view reason) noexcept override {
    try {
      notifier_.on_end(task_, key_, outcome == Outcome::success ? "" : std::string{reason});
    } catch (const std::bad_alloc&) {
      notifier_.on_end(task_, key_, "");  // there is no memory to report it
    }
  }

 private:
  Notifier& notifier_;
  const std::string task_;
  const std::string key_;
};

Notifier::Notifier(Options options) : options_(std::move(options)) {}

void Notifier::replace(std::span<const TaskDefinition> tasks, UserAccounts& accounts) {
  AllSettings all;
  std::set<std::string, std::less<>> counted;
  for (const TaskDefinition& task : tasks) {
    const Notifications& notifications = task.notifications;
    if (counts_failures(notifications)) counted.insert(task.name);
    if (!counts_failures(notifications) && notifications.on_success.empty()) continue;
    Command command = task.command;
    command.arguments.clear();
    all.emplace(
        task.name,
        std::make_shared<const Settings>(Settings{.notifications = notifications,
                                                  .command = std::move(command),
                                                  .account = accounts.find(task.command.user)}));
  }
  options_.counts->keep_only(counted);
  const Lock lock{mutex_};
  settings_.swap(all);
}

void Notifier::add(const CommandResult& result) noexcept {
  if (result.forced) return;
  try {
    std::shared_ptr<const Settings> settings;
    {
      const Lock lock{mutex_};
      const auto found = settings_.find(result.run.task);
      if (found == settings_.end()) return;
      settings = found->second;
    }
    notify(result, settings);
  } catch (const std::exception&) {
    drop(1);  // memory is exhausted
  }
  start_some();
}

void Notifier::notify(const CommandResult& result,
                      const std::shared_ptr<const Settings>& settings) {
  const Notifications& notifications = settings->notifications;
  const bool succeeded = result.succeeded();
  FailureStreak streak = options_.counts->of(result.run.task);
  std::vector<std::string> keys;
  if (succeeded) {
    if (streak.is_notified && !notifications.on_recovery.empty()) keys.emplace_back(on_recovery);
    if (!notifications.on_success.empty()) keys.emplace_back(on_success);
  } else if (add_failure(streak, notifications) && !notifications.on_failure.empty()) {
    keys.emplace_back(on_failure);
  }
  if (counts_failures(notifications)) {
    options_.counts->set(result.run.task, succeeded ? FailureStreak{} : streak);
  }
  const std::string& output = result.output;
  const std::size_t input_size = std::min(output.size(), options_.input_max);
  for (std::string& key : keys) {
    Beside beside{
        .variables = {{"DUTIFUL_NOTIFICATION", key},
                      {"DUTIFUL_RESULT", succeeded ? "succeeded" : "failed"},
                      // What a command wrote must not forge a line, as in the header of a mail.
                      {"DUTIFUL_ERROR", succeeded ? "" : on_one_line(reason_of(result))},
                      {"DUTIFUL_DURATION_MS", std::to_string(result.duration.count())},
                      {"DUTIFUL_FAILURES", std::to_string(streak.failures)}},
        .input = output.substr(output.size() - input_size),
        .time_limit = options_.time_limit};
    enqueue({.key = std::move(key),
             .settings = settings,
             .run = info_of(result.run),
             .beside = std::move(beside),
             .is_in_root = !result.spawn_error.empty()});
  }
}

void Notifier::enqueue(Waiting notification) {
  const std::size_t size = notification.size();
  {
    const Lock lock{mutex_};
    const bool fits = waiting_.size() < options_.waiting_max &&
                      waiting_bytes_ + size <= options_.waiting_bytes_max;
    if (fits && !is_closed_) {
      waiting_.push_back(std::move(notification));
      waiting_bytes_ += size;
      return;
    }
  }
  drop(1);
}

// Reports the first of many at once, the others in thousands, and the rest when none waits.
void Notifier::drop(std::size_t count) noexcept {
  {
    const Lock lock{mutex_};
    dropped_ += count;
    if (std::exchange(is_dropping_, true) && dropped_ < dropped_per_report) return;
  }
  report_dropped();
}

void Notifier::report_dropped() noexcept {
  std::size_t count = 0;
  {
    const Lock lock{mutex_};
    count = std::exchange(dropped_, 0);
  }
  if (count == 0) return;
  best_effort(
      [&] { options_.report(event::NotificationsDropped{static_cast<std::int64_t>(count)}); });
}

// A command that cannot be started ends at once, which calls this again; that call returns.
void Notifier::start_some() noexcept {
  {
    const Lock lock{mutex_};
    if (std::exchange(is_starting_, true)) return;
  }
  while (true) {
    std::optional<Waiting> next;
    {
      const Lock lock{mutex_};
      is_starting_ = !waiting_.empty() && running_ < options_.running_max;
      if (!is_starting_) return;
      next.emplace(std::move(waiting_.front()));
      waiting_.pop_front();
      waiting_bytes_ -= next->size();
      ++running_;
    }
    start(std::move(*next));
  }
}

void Notifier::start(Waiting notification) noexcept {
  // From here to its end, on_end() is called once.
  std::shared_ptr<Ending> ending;
  try {
    ending = std::make_shared<Ending>(*this, notification.run.task, notification.key);
  } catch (const std::bad_alloc&) {
    on_end("", "", "");
    drop(1);
    return;
  }
  try {
    Run run{std::move(notification.run), std::move(ending)};
    Command command = notification.settings->command;
    command.arguments = notification.arguments();
    if (notification.is_in_root) command.directory.assign(1, '/');
    options_.start(std::move(run),
                   std::move(command),
                   std::move(notification.beside),
                   notification.settings->account);
  } catch (const std::exception&) {
    // The run has failed by that.
  }
}

void Notifier::on_end(const std::string& task, const std::string& key, std::string error) noexcept {
  if (!error.empty()) {
    best_effort([&] {
      options_.report(event::NotificationFailed{
          .task = task, .notification = key, .error = on_one_line(error)});
    });
  }
  bool is_waiting = false;
  bool is_last = false;
  {
    const Lock lock{mutex_};
    --running_;
    is_waiting = !waiting_.empty();
    is_last = !is_waiting && running_ == 0;
    is_dropping_ = is_dropping_ && is_waiting;
  }
  if (!is_waiting) report_dropped();
  if (is_last) idle_bell_.ring();
  start_some();
}

void Notifier::close() noexcept {
  {
    const Lock lock{mutex_};
    is_closed_ = true;
    dropped_ += waiting_.size();
    waiting_.clear();
    waiting_bytes_ = 0;
    if (running_ == 0) idle_bell_.ring();
  }
  report_dropped();
}

bool Notifier::is_idle() const {
  const Lock lock{mutex_};
  return waiting_.empty() && running_ == 0;
}

}  // namespace dutiful
