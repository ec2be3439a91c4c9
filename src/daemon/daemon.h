// The daemon: runs the tasks of a file until a signal stops it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <dutiful/policies.h>
#include <dutiful/time.h>

#include "daemon/log_format.h"
#include "daemon/retention.h"
#include "daemon/web.h"
#include "tasks/task_file.h"

namespace dutiful {

struct DaemonOptions {
  std::string file{};                        // the task file, as messages name it
  std::function<std::string()> read_file{};  // called at SIGHUP; throws if the file cannot be read
  std::string state{};                       // an SQLite file
  std::function<Instant()> now{};
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Override override = Override::keep_history;
  bool allow_empty = false;         // a reload may remove every task
  std::optional<Duration> grace{};  // for commands to finish after a stop request; none: no limit
  Duration kill_grace{10'000};      // between SIGTERM and SIGKILL
  std::size_t max_concurrent = 64;  // commands that run at the same time; 0: no limit
  Retention history{};
  WebOptions web{};
  LogFormat log = LogFormat::json;
  std::string trace{};   // the file that the trace is appended to; empty: no trace
  bool verify = false;   // check the trace while it is written
  bool verbose = false;  // also log DEBUG events
  bool output = false;   // also log the output of commands
};

// SIGTERM and SIGINT stop it: nothing starts any more, and running commands may finish. A second
// signal, or the end of the grace period, terminates them. SIGHUP reads the file again. A file with
// problems, or without tasks unless that is allowed, is rejected, and the tasks stay as they are.
//
// It runs in the foreground, logs to standard output, and may be the first process of a container.
class Daemon {
 public:
  // Must be constructed before the process starts a thread.
  explicit Daemon(DaemonOptions options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Returns when everything has ended. Throws the errors of Scheduler::initialize() and stop(), and
  // std::runtime_error if the daemon cannot start; nothing has run then, and the state is
  // unchanged.
  void run(const std::vector<TaskDefinition>& tasks);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The default path of the state of a task file: tasks.toml -> tasks.db.
[[nodiscard]] std::string default_state_of(const std::string& file);

}  // namespace dutiful
