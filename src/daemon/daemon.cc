#include "daemon/daemon.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include <dutiful/calendar.h>
#include <dutiful/scheduler.h>

#include "commands/commands.h"
#include "commands/user_account.h"
#include "daemon/event_log.h"
#include "daemon/file_warnings.h"
#include "daemon/history.h"
#include "daemon/log.h"
#include "daemon/output_lines.h"
#include "daemon/signals.h"
#include "daemon/stop_requests.h"
#include "daemon/supervisor.h"
#include "daemon/task_changes.h"
#include "events/typed_sink.h"
#include "files/private_file.h"
#include "leftovers/kill_leftovers.h"
#include "posix/bell.h"
#include "posix/random_name.h"
#include "runtime/pending_stop.h"
#include "store/sqlite/state_file.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

// How long processes of a daemon before may take to die.
constexpr std::chrono::seconds leftovers_wait_max{30};

// How long the runs of a task that was taken from the list are remembered.
constexpr std::chrono::days history_of_removed{30};

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
        instance_(random_name()),
        state_(resolve_state(options_.state)),
        journal_(state_),
        history_({.state = state_,
                  .runs_max = options_.history,
                  .on_failure = [this](const HistoryFailure& failure) { report_history(failure); },
                  .on_recovery =
                      [this](const HistoryRecovery& recovery) {
                        log_.report(event::HistoryRecovered{
                            .written = static_cast<std::int64_t>(recovery.written),
                            .lost = static_cast<std::int64_t>(recovery.lost)});
                      }}),
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
                    .prepare = [this] { prepare(); }}) {}

  // After this the state is ours.
  void take_state(const std::vector<TaskDefinition>& tasks) {
    try {
      scheduler_.initialize(registrations(tasks));
    } catch (...) {
      if (has_cleared_leftovers_) journal_.clear();
      throw;
    }
  }

  void run(const std::vector<TaskDefinition>& tasks) {
    try {
      start(tasks);
      supervisor_.ready();
      serve();
    } catch (...) {
      // Whatever went wrong: nothing of ours goes on.
      commands_.end_all();
      throw;
    }
    stop_->finish();
    // What did not die yet is for the next daemon to see to.
    if (!commands_.has_leftovers()) journal_.clear();
  }

 private:
  CommandOptions command_options() {
    CommandOptions command_options{
        .instance = instance_, .journal = &journal_, .kill_grace = options_.kill_grace};
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

  // Nothing of a daemon before may be left when the scheduler begins.
  void prepare() {
    interrupted_ = interrupted_runs(state_, options_.now());
    clear_leftovers();
    has_cleared_leftovers_ = true;
  }

  // What the scheduler has started meanwhile waits until it is told what was loaded.
  void start(const std::vector<TaskDefinition>& tasks) {
    for (HistoryEntry& run : std::exchange(interrupted_, {})) history_.add(std::move(run));
    on_loaded(tasks);
    log_.release_starts();
    commands_.open();
  }

  void clear_leftovers() {
    const auto before = journal_.enter(instance_, !interrupted_.empty());
    Fences fences;
    for (const HistoryEntry& run : interrupted_) fences.insert(run.result.run.fence);
    const KilledLeftovers killed = kill_leftovers(before, fences, leftovers_wait_max);
    if (killed.count > 0) {
      log_.report(event::LeftoversEnded{static_cast<std::int64_t>(killed.count)});
    }
    if (!killed.remaining.empty()) {
      std::string processes;
      for (const int process : killed.remaining) processes += ' ' + std::to_string(process);
      throw std::runtime_error(
          "commands that a daemon before has left do not die, and nothing is run beside them; "
          "see to the processes" +
          processes);
    }
    journal_.keep_only(instance_);
  }

  // Waits for signals and for the end.
  void serve() {
    std::array<pollfd, 2> waiting{
        {{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = all_ended_.descriptor(), .events = POLLIN, .revents = 0}}};
    while (true) {
      (void)poll(waiting.data(), waiting.size(), warnings_.has_more() ? 0 : timeout());
      if (supervisor_.alive_every()) supervisor_.alive();
      if (waiting[1].revents != 0) break;
      while (const auto signal = signals_.take()) on_signal(*signal);
      if (stop_ && Steady::now() >= deadline_) end_commands("the grace period has expired");
      warnings_.step();
    }
  }

  [[nodiscard]] int timeout() const {
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
      if (!stop_) reload();
      return;
    }
    switch (stop_requests_.take(signal, Steady::now())) {
      case StopRequests::Meaning::stop:
        return stop();
      case StopRequests::Meaning::echo:
        return;
      case StopRequests::Meaning::end:
        return end_commands("a second signal was received");
    }
  }

  void stop() {
    supervisor_.stopping();
    warnings_.end();
    if (options_.grace) deadline_ = Steady::now() + *options_.grace;
    stop_.emplace(scheduler_, all_ended_);
  }

  void end_commands(const std::string& reason) {
    deadline_ = Steady::time_point::max();
    if (!reported_ending_ && commands_.are_any()) {
      reported_ending_ = true;
      log_.report(event::CommandsEnding{reason});
    }
    commands_.end_all();
  }

  // RULES I4, reconcile: what runs goes on; where anything is wrong, so does the old list.
  void reload() {
    supervisor_.reloading();
    try {
      load(parse_task_file(options_.read_file()));
    } catch (const std::exception& error) {
      reject(error.what());
    }
    supervisor_.ready();
  }

  void load(const TaskFile& file) {
    for (const Problem& problem : file.problems) {
      reject(place_in(options_.file, problem.place) + ": " + problem.message);
    }
    if (!file.problems.empty()) return;
    // Far more often a file that is just being written, or was truncated, than meant so.
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
      // It is loaded, though there is no memory to say so.
    }
  }

  void reject(const std::string& error) {
    log_.report(event::TaskFileRejected{error + "; the tasks stay as they were"});
  }

  void on_loaded(const std::vector<TaskDefinition>& tasks) {
    std::set<std::string, std::less<>> names;
    for (const TaskDefinition& task : tasks) names.insert(task.name);
    history_.forget_others(std::move(names), options_.now() - history_of_removed);
    for (const TaskChange& change : find_changes(tasks_, tasks)) report_change(change);
    warnings_.end();
    tasks_ = tasks;
    warnings_.begin(tasks_, Calendar{zone_, options_.repeated_minutes}, options_.now());
    log_.report(event::TaskFileLoaded{.file = options_.file,
                                      .tasks = static_cast<std::int64_t>(tasks.size()),
                                      .state = options_.state});
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

  void report_change(const TaskChange& change) {
    event::TaskChanged changed{.task = change.task, .keys = {}};
    for (const std::string& key : change.keys) {
      changed.keys.append(changed.keys.empty() ? "" : ",").append(key);
    }
    if (change.time_limit != change.time_limit_before) {
      changed.timeouts = {.before = change.time_limit_before, .after = change.time_limit};
    }
    log_.report(std::move(changed));
  }

  void report_warning(const std::string& warning, std::optional<Place> place) {
    event::TaskFileWarning event{.file = options_.file, .warning = warning};
    if (place) {
      event.line = place->line;
      event.column = place->column;
    }
    log_.report(std::move(event));
  }

  const DaemonOptions options_;
  Signals signals_;  // before any thread
  const Zone zone_;
  EventLog log_;
  OutputLines lines_;  // belongs to the thread of commands_
  const std::string instance_;
  const std::string state_;  // what its links lead to now, whatever becomes of them
  DaemonJournal journal_;
  HistoryWriter history_;
  Commands commands_;
  Supervisor supervisor_;
  Bell all_ended_;  // rings when a stop has nothing to wait for any more
  Scheduler scheduler_;
  std::optional<PendingStop> stop_;
  std::vector<TaskDefinition> tasks_;  // those that were loaded last
  FileWarnings warnings_{
      {.tell = [this](const Problem& found) { report_warning(found.message, found.place); },
       .tell_more =
           [this](std::size_t count) {
             report_warning(std::to_string(count) + " more " +
                                (count == 1 ? "warning" : "warnings") + "; see dutiful check",
                            std::nullopt);
           }}};
  std::vector<HistoryEntry> interrupted_;  // runs that died with a daemon before
  bool has_cleared_leftovers_ = false;     // nothing of that is left
  StopRequests stop_requests_;
  bool reported_ending_ = false;
  Steady::time_point deadline_ = Steady::time_point::max();  // of the grace
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
