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
#include "daemon/failure_counts.h"
#include "daemon/history.h"
#include "daemon/loaded_tasks.h"
#include "daemon/notifier.h"
#include "daemon/output_lines.h"
#include "daemon/signals.h"
#include "daemon/stop_signals.h"
#include "daemon/supervisor.h"
#include "daemon/takeover.h"
#include "daemon/web.h"
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

// How often a daemon that is watched records that it runs. If it is killed, its end is known to
// this; an idle daemon that nobody watches need not wake for it.
constexpr Duration uptime_heartbeat = std::chrono::minutes{1};

// How long notifications may take after the last run of a stop, and how long after that those that
// still run may take to end.
constexpr std::chrono::seconds notification_grace{5};
constexpr std::chrono::seconds notification_end_max{1};

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
        state_(resolve_state(options_.state)),
        web_(options_.web,
             {.file = options_.file,
              .state = state_,
              .trace = options_.trace,
              .keeps_history = !options_.history.keeps_nothing(),
              .calendar = Calendar{zone_, options_.repeated_minutes},
              .now = options_.now,
              .up_since = [this] { return history_.up_since(); },
              .log_lines_lost = [this] { return log_.lines_lost(); },
              .report = [this](event::Any event) { log_.report(std::move(event)); }}),
        log_({.format = options_.log,
              .verbose = options_.verbose,
              .zone = zone_,
              .now = options_.now,
              .observe = [this](const TypedEvent& event) { web_.add(event); }}),
        lines_([this](const std::string& task, std::string_view line) {
          log_.add_output(task, line);
        }),
        takeover_(state_, log_),
        tasks_(options_.file, options_.state, Calendar{zone_, options_.repeated_minutes}, log_),
        history_({.state = state_,
                  .retention = options_.history,
                  .on_failure = [this](const HistoryFailure& failure) { report_history(failure); },
                  .on_recovery =
                      [this](const HistoryRecovery& recovery) { log_.report(event_of(recovery)); },
                  .now = options_.now,
                  .heartbeat = options_.web.addresses.empty() ? std::nullopt
                                                              : std::optional{uptime_heartbeat}}),
        counts_({.state = state_,
                 .on_failure =
                     [this](const std::exception& error, std::optional<Duration> next_try) {
                       report_counts(error, next_try);
                     }}),
        notifier_(
            {.start =
                 [this](Run run,
                        Command command,
                        Beside beside,
                        std::shared_ptr<const UserAccount> account) {
                   commands_.run_beside(
                       std::move(run), std::move(command), std::move(beside), std::move(account));
                 },
             .report = [this](event::Any event) { log_.report(std::move(event)); },
             .counts = &counts_}),
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

  // A notification that ends starts the next one, but not while the commands are destroyed.
  ~Impl() { notifier_.close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // When this returns, this process holds the state. If it cannot listen, it does not touch the
  // state.
  void take_state(const std::vector<TaskDefinition>& tasks) {
    server_ = web_.serve(scheduler_);
    try {
      scheduler_.initialize(registrations(tasks));
    } catch (...) {
      best_effort([this] { takeover_.clear_journal(); });
      throw;
    }
    web_.on_state_taken();
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
    end_notifications();
    stop_->finish();
    // The next daemon kills the leftovers.
    if (!commands_.has_leftovers() && !commands_.are_any()) takeover_.clear_journal();
  }

 private:
  CommandOptions command_options() {
    CommandOptions command_options{.instance = takeover_.instance(),
                                   .journal = &takeover_.journal(),
                                   .kill_grace = options_.kill_grace};
    command_options.output_max =
        std::max(command_options.output_max, options_.history.output_bytes);
    if (options_.output) {
      command_options.on_output = [this](const RunInfo& run, std::string_view chunk) {
        lines_.add(run, chunk);
      };
      command_options.on_output_end = [this](const RunInfo& run) { lines_.finish(run); };
    }
    command_options.on_end = [this](CommandResult result) {
      if (options_.output) best_effort([&] { lines_.finish(result.run); });
      notifier_.add(result);
      const Instant scheduled = result.run.scheduled;
      history_.add({.result = std::move(result), .scheduled = scheduled});
    };
    command_options.on_lost = [this] { history_.add_lost(); };
    return command_options;
  }

  std::vector<Registration> registrations(const std::vector<TaskDefinition>& tasks) {
    std::vector<Registration> list;
    list.reserve(tasks.size());
    accounts_ = {};
    for (const TaskDefinition& task : tasks) {
      list.push_back(
          {.name = task.name,
           .cron = task.cron,
           .callback = commands_.callback(task.command, accounts_.find(task.command.user)),
           .retry_delay = task.retry_delay,
           .time_limit = task.time_limit});
    }
    return list;
  }

  // No command runs before TaskFileLoaded is reported.
  void start(const std::vector<TaskDefinition>& tasks) {
    counts_.load();
    history_.begin_uptime(options_.now());
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
    notifier_.close();
    commands_.end_all();
    ended_commands_ = true;
  }

  // All runs have ended. Their notifications get a moment.
  void end_notifications() {
    const auto deadline = Steady::now() + notification_grace;
    while (!ended_commands_ && !notifier_.is_idle() && Steady::now() < deadline) {
      await_notifications(deadline);
    }
    if (notifier_.is_idle()) return;
    notifier_.close();
    commands_.end_all();
    const auto last = Steady::now() + notification_end_max;
    while (!notifier_.is_idle() && Steady::now() < last) await_notifications(last);
  }

  // Waits until they have ended, a signal is received, or the time is over.
  void await_notifications(Steady::time_point until) {
    std::array<pollfd, 2> waiting{
        {{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = notifier_.idle_bell().descriptor(), .events = POLLIN, .revents = 0}}};
    const auto left =
        std::max(std::chrono::ceil<Duration>(until - Steady::now()), Duration::zero());
    (void)poll(waiting.data(),
               waiting.size(),
               static_cast<int>(std::min(left, supervisor_.alive_every().value_or(left)).count()));
    if (supervisor_.alive_every()) supervisor_.alive();
    notifier_.idle_bell().take();
    while (const auto signal = signals_.take()) on_signal(*signal);
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
      const std::string error = place_in(options_.file, problem.place) + ": " + problem.message;
      if (&problem == &file.problems.back()) return reject(error);
      log_.report(event::TaskFileRejected{error});
    }
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

  // The last problem of a reload.
  void reject(const std::string& error) {
    log_.report(event::TaskFileRejected{error + "; the tasks stay as they were"});
  }

  void on_loaded(const std::vector<TaskDefinition>& tasks) {
    const Instant now = options_.now();
    notifier_.replace(tasks, accounts_);
    tasks_.replace(tasks, now);
    web_.set_tasks(tasks_.shared());
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

  void report_counts(const std::exception& error, std::optional<Duration> next_try) {
    if (const auto* refused = dynamic_cast<const FileRefused*>(&error)) {
      log_.report(event::AccessRefused{
          .what = refused->path(), .reason = refused->reason(), .who = refused->who()});
    }
    event::FailureCountsFailed failed{.error = error.what()};
    if (next_try) failed.next_try = options_.now() + *next_try;
    log_.report(std::move(failed));
  }

  const DaemonOptions options_;
  Signals signals_;  // before any thread
  const Zone zone_;
  const std::string state_;  // with all links resolved, at the start
  Web web_;
  EventLog log_;
  OutputLines lines_;  // belongs to the thread of commands_
  Takeover takeover_;
  LoadedTasks tasks_;
  HistoryWriter history_;
  UserAccounts accounts_;  // of the newest list
  FailureCounts counts_;
  Notifier notifier_;
  Commands commands_;
  Supervisor supervisor_;
  Bell all_ended_;  // rings when a stop has nothing left to wait for
  Scheduler scheduler_;
  std::unique_ptr<http::HttpServer> server_;  // none: nothing is served
  bool stop_is_wanted_ = false;
  std::optional<PendingStop> stop_;
  StopSignals stop_signals_;
  bool reported_ending_ = false;
  bool ended_commands_ = false;                              // before they ended by themselves
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
