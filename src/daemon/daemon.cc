#include "daemon/daemon.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include <dutiful/scheduler.h>

#include "commands/account.h"
#include "commands/commands.h"
#include "commands/leftovers.h"
#include "daemon/event_text.h"
#include "daemon/history.h"
#include "daemon/log.h"
#include "daemon/output_lines.h"
#include "daemon/overture.h"
#include "daemon/scheduled_times.h"
#include "daemon/signals.h"
#include "daemon/stop_requests.h"
#include "daemon/stopper.h"
#include "daemon/supervisor.h"
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
        colour_(isatty(STDOUT_FILENO) != 0 ? Colour::ansi : Colour::none),
        log_(STDOUT_FILENO, [this](std::size_t count) { return dropped_line(count); }),
        lines_([this](const std::string& task, std::string_view line) {
          log_.write_output([&] { return output_line(task, line); });
        }),
        overture_([this](const Event& event) { log(event); }),
        instance_(new_instance()),
        instances_(resolve_state(options_.state)),
        history_({.state = options_.state,
                  .runs_max = options_.history,
                  .on_failure =
                      [this](const std::string& error) {
                        tell("HistoryFailed", Level::warning, {{"error", error}});
                      }}),
        commands_(command_options()),
        scheduler_({.state = options_.state,
                    .reinitialize = Reinitialize::reconcile,
                    .max_concurrent = options_.max_concurrent,
                    .zone = zone_,
                    .events =
                        [this](const Event& event) {
                          scheduled_.take(event);
                          overture_.take(event);
                        },
                    .trace = options_.trace,
                    .verify = options_.verify,
                    .prepare = [this] { prepare(); }}),
        stopper_([this] { scheduler_.stop(); }) {}

  // After this the state is ours.
  void take_state(const std::vector<TaskDefinition>& tasks) {
    try {
      scheduler_.initialize(registrations(tasks));
    } catch (...) {
      if (swept_) instances_.clear();
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
      stopper_.ask();
      (void)stopper_.finish();
      throw;
    }
    if (const auto error = stopper_.finish()) std::rethrow_exception(error);
    // What did not die yet is for the next daemon to see to.
    if (!commands_.has_survivors()) instances_.clear();
  }

 private:
  CommandOptions command_options() {
    CommandOptions command_options{
        .instance = instance_, .instances = &instances_, .kill_grace = options_.kill_grace};
    if (options_.output) {
      command_options.on_output = [this](const RunInfo& run, std::string_view chunk) {
        lines_.add(run, chunk);
      };
      command_options.on_output_end = [this](const RunInfo& run) { lines_.finish(run); };
    }
    command_options.on_end = [this](CommandResult result) {
      if (options_.output) lines_.finish(result.run);
      const auto scheduled = scheduled_.give(result.run.task);
      history_.add({.result = std::move(result), .scheduled = scheduled});
    };
    return command_options;
  }

  std::vector<Registration> registrations(const std::vector<TaskDefinition>& tasks) {
    std::vector<Registration> list;
    list.reserve(tasks.size());
    Accounts accounts;
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
    interrupted_ = interrupted_runs(options_.state, options_.now());
    sweep();
    swept_ = true;
  }

  // What the scheduler has started meanwhile waits until it is told what was loaded.
  void start(const std::vector<TaskDefinition>& tasks) {
    for (HistoryEntry& run : std::exchange(interrupted_, {})) history_.add(std::move(run));
    on_loaded(tasks);
    overture_.end();
    commands_.open();
  }

  void sweep() {
    const auto before = instances_.enter(instance_, !interrupted_.empty());
    const Sweep sweep = end_leftovers(before, leftovers_wait_max);
    if (sweep.ended > 0) {
      tell("LeftoversEnded", Level::warning, {{"count", static_cast<std::int64_t>(sweep.ended)}});
    }
    if (!sweep.remaining.empty()) {
      std::string processes;
      for (const int process : sweep.remaining) processes += ' ' + std::to_string(process);
      throw std::runtime_error(
          "commands that a daemon before has left do not die, and nothing is run beside them; "
          "see to the processes" +
          processes);
    }
    instances_.keep_only(instance_);
  }

  // Waits for signals and for the end.
  void serve() {
    std::array<pollfd, 2> waiting{{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
                                   {.fd = stopper_.descriptor(), .events = POLLIN, .revents = 0}}};
    while (true) {
      (void)poll(waiting.data(), waiting.size(), timeout());
      if (supervisor_.alive_every()) supervisor_.alive();
      if (waiting[1].revents != 0) break;
      while (const auto signal = signals_.take()) on_signal(*signal);
      if (stopper_.is_asked() && Steady::now() >= deadline_) end_commands("the grace is over");
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
      if (!stopper_.is_asked()) reload();
      return;
    }
    switch (stop_requests_.take(signal, Steady::now())) {
      case StopRequests::Meaning::stop:
        return stop();
      case StopRequests::Meaning::echo:
        return;
      case StopRequests::Meaning::end:
        return end_commands("a second signal came");
    }
  }

  void stop() {
    supervisor_.stopping();
    if (options_.grace) deadline_ = Steady::now() + *options_.grace;
    stopper_.ask();
  }

  void end_commands(const std::string& reason) {
    deadline_ = Steady::time_point::max();
    if (!told_ending_ && commands_.are_any()) {
      told_ending_ = true;
      tell("CommandsEnding", Level::warning, {{"reason", reason}});
    }
    commands_.end_all();
  }

  // RULES I4, reconcile: what runs goes on; where anything is wrong, so does the old list.
  void reload() {
    supervisor_.reloading();
    try {
      const TaskFile file = parse_task_file(options_.read_file());
      for (const Problem& problem : file.problems) {
        reject(place_in(options_.file, problem.place) + ": " + problem.message);
      }
      if (file.problems.empty()) {
        scheduler_.initialize(registrations(file.tasks));
        on_loaded(file.tasks);
      }
    } catch (const std::exception& error) {
      reject(error.what());
    }
    supervisor_.ready();
  }

  void reject(const std::string& error) {
    tell("TaskFileRejected", Level::error, {{"error", error + "; the tasks stay as they were"}});
  }

  void on_loaded(const std::vector<TaskDefinition>& tasks) {
    std::set<std::string, std::less<>> names;
    for (const TaskDefinition& task : tasks) names.insert(task.name);
    history_.forget_others(std::move(names), options_.now() - history_of_removed);
    tell("TaskFileLoaded",
         Level::info,
         {{"file", options_.file},
          {"tasks", static_cast<std::int64_t>(tasks.size())},
          {"state", options_.state}});
  }

  void tell(std::string_view name, Level level, std::vector<EventField> fields) {
    log({.name = name, .level = level, .at = options_.now(), .fields = std::move(fields)});
  }

  void log(const Event& event) {
    if (event.level == Level::debug && !options_.verbose) return;
    log_.write(line_of(event));
  }

  [[nodiscard]] std::string line_of(const Event& event) const {
    return options_.log == DaemonOptions::LogFormat::json ? to_json(event)
                                                          : to_text(event, zone_, colour_);
  }

  [[nodiscard]] std::string output_line(const std::string& task, std::string_view line) const {
    return line_of({.name = "TaskOutput",
                    .level = Level::info,
                    .at = options_.now(),
                    .fields = {{"taskName", task}, {"text", std::string{line}}}});
  }

  [[nodiscard]] std::string dropped_line(std::size_t count) const {
    return line_of({.name = "LogLinesDropped",
                    .level = Level::warning,
                    .at = options_.now(),
                    .fields = {{"count", static_cast<std::int64_t>(count)}}});
  }

  const DaemonOptions options_;
  Signals signals_;  // before any thread
  const Zone zone_;
  const Colour colour_;
  Log log_;
  OutputLines lines_;  // belongs to the thread of commands_
  ScheduledTimes scheduled_;
  Overture overture_;
  const std::string instance_;
  Instances instances_;
  HistoryWriter history_;
  Commands commands_;
  Supervisor supervisor_;
  Scheduler scheduler_;
  Stopper stopper_;
  std::vector<HistoryEntry> interrupted_;  // runs that died with a daemon before
  bool swept_ = false;                     // nothing of that is left
  StopRequests stop_requests_;
  bool told_ending_ = false;                                 // that commands are ended
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
