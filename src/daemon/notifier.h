// Runs the notifications of tasks: on_failure, on_recovery and on_success.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include <dutiful/run.h>

#include "commands/beside.h"
#include "commands/command.h"
#include "commands/command_result.h"
#include "commands/user_account.h"
#include "daemon/failure_counts.h"
#include "events/catalogue.h"
#include "posix/bell.h"
#include "sync/mutex.h"
#include "tasks/task_file.h"

namespace dutiful {

// A notification is a command that runs beside the tasks. It is bounded in time and in number: up
// to `running_max` run at once, up to `waiting_max` wait, and the rest are dropped and counted. Its
// own failure is an event and nothing more.
//
// A run that the daemon itself terminated, because it stops, neither notifies nor counts: it says
// nothing about the task.
//
// Safe to use from any thread.
class Notifier {
 public:
  // Starts a command beside the tasks, as Commands::run_beside() does.
  using Start =
      std::function<void(Run, Command, Beside, std::shared_ptr<const UserAccount> account)>;
  struct Options {
    Start start;
    std::function<void(event::Any)> report;
    FailureCounts* counts = nullptr;  // must outlive this
    Duration time_limit = std::chrono::minutes{1};
    std::size_t running_max = 16;
    std::size_t waiting_max = 1'000;
    std::size_t waiting_bytes_max = 16UL * 1024 * 1024;
    std::size_t input_max = 64UL * 1024;  // bytes of the run's output that a notification gets
  };
  // Throws std::system_error.
  explicit Notifier(Options options);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // The tasks whose runs notify from now on. The counts of all other tasks are forgotten. If memory
  // runs out, throws, and the tasks stay as they were.
  void replace(std::span<const TaskDefinition> tasks, UserAccounts& accounts);

  // A run has ended.
  void add(const CommandResult& result) noexcept;

  // Drops the notifications that wait, and starts no more.
  void close() noexcept;
  // Whether none runs or waits. The bell rings when that becomes true.
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] Bell& idle_bell() noexcept { return idle_bell_; }

 private:
  class Ending;
  struct Settings {
    Notifications notifications{};
    Command command{};  // without its arguments
    std::shared_ptr<const UserAccount> account{};
  };
  using AllSettings = std::unordered_map<std::string, std::shared_ptr<const Settings>>;
  struct Waiting {
    std::string key;  // on_failure, …
    std::shared_ptr<const Settings> settings;
    RunInfo run;
    Beside beside;
    bool is_in_root = false;  // the directory of the task may be why the run was not started

    [[nodiscard]] const std::vector<std::string>& arguments() const;
    [[nodiscard]] std::size_t size() const;
  };

  void notify(const CommandResult& result, const std::shared_ptr<const Settings>& settings);
  void enqueue(Waiting notification);
  void drop(std::size_t count) noexcept;
  void report_dropped() noexcept;
  void start_some() noexcept;
  void start(Waiting notification) noexcept;
  void on_end(const std::string& task, const std::string& key, std::string error) noexcept;

  const Options options_;
  Bell idle_bell_;
  mutable Mutex mutex_;
  AllSettings settings_ GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
  std::size_t running_ GUARDED_BY(mutex_) = 0;
  std::size_t dropped_ GUARDED_BY(mutex_) = 0;   // and not reported yet
  bool is_dropping_ GUARDED_BY(mutex_) = false;  // since the queue was last empty
  bool is_starting_ GUARDED_BY(mutex_) = false;  // start_some() is being called
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful
