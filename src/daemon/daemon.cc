#include "daemon/daemon.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include <dutiful/calendar.h>
#include <dutiful/scheduler.h>

#include "commands/commands.h"
#include "commands/user_account.h"
#include "core/best_effort.h"
#include "daemon/event_log.h"
#include "daemon/history.h"
#include "daemon/loaded_tasks.h"
#include "daemon/output_lines.h"
#include "daemon/signals.h"
#include "daemon/stop_signals.h"
#include "daemon/supervisor.h"
#include "daemon/takeover.h"
#include "events/typed_sink.h"
#include "files/private_file.h"
#include "posix/bell.h"
#include "runtime/pending_stop.h"
#include "store/sqlite/state_file.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

// How long the history keeps the runs of a task that was removed.
constexpr std::chrono::days removed_tasks_kept{30};

// How long to wait for memory before the next try to begin a stop.
constexpr int stop_retry_ms = 100;

event::HistoryRecovered event_of(const HistoryRecovery& recovery) {
  return {.written = static_cast<std::int64_t>(recovery.written),
          .lost = static_cast<std::int64_t>(recovery.lost)};
}

}  // namespace

class Daemon::Impl {
 public:
  explicit Impl(DaemonOptions options)
      : options_(std::move(options)),
        zone_(Zone::host()),
        log_({.format = options_.log,
              .verbose = options_.verbose,
              .zone = zone_,
              .now = options_.now}),
        lines_([this](const std::string& task, std::string_view line) {
          log_.add_output(task, line);
        }),
        state_(resolve_state(options_.state)),
        takeover_(state_, log_),
        tasks_(options_.file, options_.state, Calendar{zone_, options_.repeated_minutes}, log_),
        history_(
            {.state = state_,
             .runs_max = options_.history,
             .on_failure = [this](const HistoryFailure& failure) { report_history(failure); },
             .on_recovery =
                 [this](const HistoryRecovery& recovery) { log_.report(event_of(recovery)); }}),
        commands_(command_options()),
        scheduler_({.state = state_,
                    .repeated_minutes = options_.repeated_minutes,
                    .reinitialize = Reinitialize::reconcile,
                    .override = options_.override,
                    .max_concurrent = options_.max_concurrent,
                    .zone = zone_,
                    .events = TypedEvents{[this](const TypedEvent& event) { log_.add(event); }},
                    .trace = options_.trace,
                    .verify = options_.verify,
                    .prepare = [this] { takeover_.prepare(options_.now()); }}) {}

  // When this returns, this process holds the state.
  void take_state(const std::vector<TaskDefinition>& tasks) {
    try {
      scheduler_.initialize(registrations(tasks));
    } catch (...) {
      best_effort([this] { takeover_.clear_journal(); });
      throw;
    }
  }

  void run(const std::vector<TaskDefinition>& tasks) {
    try {
      start(tasks);
      supervisor_.ready();
      serve();
    } catch (...) {
      // Whatever went wrong, no command may outlive the daemon.
      commands_.end_all();
      throw;
    }
    stop_->finish();
    // The next daemon kills the leftovers.
    if (!commands_.has_leftovers()) takeover_.clear_journal();
  }

 private:
  CommandOptions command_options() {
    CommandOptions command_options{.instance = takeover_.instance(),
                                   .journal = &takeover_.journal(),
                                   .kill_grace = options_.kill_grace};
    if (options_.output) {
      command_options.on_output = [this](const RunInfo& run, std::string_view chunk) {
        lines_.add(run, chunk);
      };
      command_options.on_output_end = [this](const RunInfo& run) { lines_.finish(run); };
    }
    command_options.on_end = [this](CommandResult result) {
      if (options_.output) lines_.finish(result.run);
      const Instant scheduled = result.run.scheduled;
      history_.add({.result = std::move(result), .scheduled = scheduled});
    };
    return command_options;
  }

  std::vector<Registration> registrations(const std::vector<TaskDefinition>& tasks) {
    std::vector<Registration> list;
    list.reserve(tasks.size());
    UserAccounts accounts;
    for (const TaskDefinition& task : tasks) {
      list.push_back(
          {.name = task.name,
           .cron = task.cron,
           .callback = commands_.callback(task.command, accounts.find(task.command.user)),
           .retry_delay = task.retry_delay,
           .time_limit = task.time_limit});
    }
    return list;
  }

  // No command runs before TaskFileLoaded is reported.
  void start(const std::vector<TaskDefinition>& tasks) {
    for (HistoryEntry& run : takeover_.take_interrupted()) history_.add(std::move(run));
    on_loaded(tasks);
    log_.release_starts();
    commands_.open();
  }

  // Handles signals until everything has ended.
  void serve() {
    std::array<pollfd, 2> waiting{
        {{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = all_ended_.descriptor(), .events = POLLIN, .revents = 0}}};
    while (true) {
      (void)poll(waiting.data(), waiting.size(), tasks_.has_warnings() ? 0 : timeout());
      if (supervisor_.alive_every()) supervisor_.alive();
      if (waiting[1].revents != 0) break;
      while (const auto signal = signals_.take()) on_signal(*signal);
      try_to_stop();
      if (stop_is_wanted_ && Steady::now() >= deadline_)
        end_commands("the grace period has expired");
      tasks_.report_some_warnings();
    }
  }

  [[nodiscard]] int timeout() const {
    if (stop_is_wanted_ && !stop_) return stop_retry_ms;
    auto wait = supervisor_.alive_every().value_or(Duration{-1});
    if (deadline_ != Steady::time_point::max()) {
      const auto left =
          std::max(std::chrono::ceil<Duration>(deadline_ - Steady::now()), Duration::zero());
      if (wait < Duration::zero() || left < wait) wait = left;
    }
    return static_cast<int>(std::min<Duration::rep>(wait.count(), 3'600'000));
  }

  void on_signal(int signal) {
    if (signal == SIGHUP) {
      if (stop_is_wanted_) {
        best_effort([this] { reject("the reload was ignored, because the daemon is stopping"); });
      } else {
        reload();
      }
      return;
    }
    switch (stop_signals_.take(signal, Steady::now())) {
      case StopSignals::Meaning::stop:
        return stop();
      case StopSignals::Meaning::duplicate:
        return;
      case StopSignals::Meaning::terminate:
        return end_commands("a second signal was received");
    }
  }

  void stop() {
    supervisor_.stopping();
    tasks_.drop_warnings();
    if (options_.grace) deadline_ = Steady::now() + *options_.grace;
    stop_is_wanted_ = true;
    try_to_stop();
  }

  // If there is no memory to begin the stop with, serve() tries again.
  void try_to_stop() {
    if (!stop_is_wanted_ || stop_) return;
    try {
      stop_.emplace(scheduler_, all_ended_);
    } catch (const StopSchedulerError&) {
    }
  }

  void end_commands(const char* reason) {
    deadline_ = Steady::time_point::max();
    if (!reported_ending_ && commands_.are_any()) {
      reported_ending_ = true;
      best_effort([&] { log_.report(event::CommandsEnding{reason}); });
    }
    commands_.end_all();
  }

  // RULES I4, reconcile: runs continue. If anything is wrong, the old list stays.
  void reload() {
    try {
      supervisor_.reloading();
      load(parse_task_file(options_.read_file()));
    } catch (const std::exception& error) {
      best_effort([&] { reject(error.what()); });
    }
    supervisor_.ready();
  }

  void load(const TaskFile& file) {
    for (const Problem& problem : file.problems) {
      reject(place_in(options_.file, problem.place) + ": " + problem.message);
    }
    if (!file.problems.empty()) return;
    // An empty file is usually a mistake: it is being written, or was truncated.
    if (file.tasks.empty() && !tasks_.empty() && !options_.allow_empty) {
      reject(options_.file +
             " has no tasks; to let a reload remove every task, start dutiful run with "
             "--allow-empty");
      return;
    }
    scheduler_.initialize(registrations(file.tasks));
    try {
      on_loaded(file.tasks);
    } catch (const std::bad_alloc&) {
      // The tasks are loaded, but there is no memory to report it.
    }
  }

  void reject(const std::string& error) {
    log_.report(event::TaskFileRejected{error + "; the tasks stay as they were"});
  }

  void on_loaded(const std::vector<TaskDefinition>& tasks) {
    const Instant now = options_.now();
    tasks_.replace(tasks, now);
    history_.prune_removed(tasks_.names(), now - removed_tasks_kept);
  }

  void report_history(const HistoryFailure& failure) {
    if (const FileRefused* refused = failure.refused) {
      log_.report(event::AccessRefused{
          .what = refused->path(), .reason = refused->reason(), .who = refused->who()});
    }
    event::HistoryFailed failed{.error = failure.error,
                                .waiting = static_cast<std::int64_t>(failure.waiting),
                                .lost = static_cast<std::int64_t>(failure.lost)};
    if (failure.next_try) failed.next_try = options_.now() + *failure.next_try;
    log_.report(std::move(failed));
  }

  const DaemonOptions options_;
  Signals signals_;  // before any thread
  const Zone zone_;
  EventLog log_;
  OutputLines lines_;        // belongs to the thread of commands_
  const std::string state_;  // with all links resolved, at the start
  Takeover takeover_;
  LoadedTasks tasks_;
  HistoryWriter history_;
  Commands commands_;
  Supervisor supervisor_;
  Bell all_ended_;  // rings when a stop has nothing left to wait for
  Scheduler scheduler_;
  bool stop_is_wanted_ = false;
  std::optional<PendingStop> stop_;
  StopSignals stop_signals_;
  bool reported_ending_ = false;
  Steady::time_point deadline_ = Steady::time_point::max();  // of the grace period
};

Daemon::Daemon(DaemonOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Daemon::~Daemon() = default;

void Daemon::run(const std::vector<TaskDefinition>& tasks) {
  impl_->take_state(tasks);
  impl_->run(tasks);
}

std::string default_state_of(const std::string& file) {
  constexpr std::string_view suffix = ".toml";
  return (file.ends_with(suffix) ? file.substr(0, file.size() - suffix.size()) : file) + ".db";
}

}  // namespace dutiful
