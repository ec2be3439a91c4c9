// The daemon: runs the tasks of a file until it is told to end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <dutiful/policies.h>
#include <dutiful/time.h>

#include "daemon/log_format.h"
#include "tasks/task_file.h"

namespace dutiful {

struct DaemonOptions {
  std::string file{};                        // as messages name it
  std::function<std::string()> read_file{};  // again, at SIGHUP; throws where it cannot be read
  std::string state{};                       // an SQLite file
  std::function<Instant()> now{};
  RepeatedMinutes repeated_minutes = RepeatedMinutes::both;
  Override override = Override::keep_history;
  bool allow_empty = false;         // a file without tasks, at SIGHUP, removes them all
  std::optional<Duration> grace{};  // how long commands may take to finish; none: as they like
  Duration kill_grace{10'000};      // between SIGTERM and SIGKILL
  std::size_t max_concurrent = 64;  // commands at one time; 0: no bound
  std::size_t history = 100;        // runs kept of each task
  LogFormat log = LogFormat::json;
  std::string trace{};   // a file that what is observed is added to; empty: none
  bool verify = false;   // judge it while it grows
  bool verbose = false;  // also events of the level DEBUG
  bool output = false;   // also what commands write
};

// SIGTERM and SIGINT end it: nothing is started any more, what runs may finish. At a second one, or
// when the grace is over, what runs is ended. SIGHUP reads the file again; one with problems, or
// without any task unless that is allowed, is reported, and the old list goes on.
//
// In the foreground, with its log on standard output; also as the first process of a container.
class Daemon {
 public:
  // To be made before any thread.
  explicit Daemon(DaemonOptions options);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Returns when everything has ended. Throws the errors of Scheduler::initialize() and stop(), and
  // std::runtime_error where it cannot start. Where it does not, nothing was run, and the state is
  // as it was.
  void run(const std::vector<TaskDefinition>& tasks);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Where the state of a task file is unless told otherwise: tasks.toml -> tasks.db.
[[nodiscard]] std::string default_state_of(const std::string& file);

}  // namespace dutiful
