// The HTTP side of the daemon: the server, and what it serves.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/scheduler.h>

#include "events/catalogue.h"
#include "http/address.h"
#include "http/server.h"
#include "http/token.h"
#include "tasks/task_file.h"

namespace dutiful {

struct WebOptions {
  std::vector<http::ListenAddress> addresses{};  // none: nothing is served
  std::optional<http::AccessToken> token{};
  std::vector<std::string> hosts{};                // as parse_listen_host() returns them
  std::size_t metrics_tasks = 1000;                // tasks with series of their own
  Duration overdue_max = std::chrono::minutes{5};  // beyond it, /readyz says no
};

// Collects what is served. The server is another object, because it reads the scheduler, which
// reports its events here: this object must outlive the scheduler, and the server must not.
class Web {
 public:
  struct Surroundings {
    std::string file;  // of the tasks
    std::string state;
    std::string trace;
    bool keeps_history = true;
    Calendar calendar;
    std::function<Instant()> now;
    std::function<std::optional<Instant>()> up_since;  // when this daemon took its state
    std::function<std::size_t()> log_lines_lost;
    std::function<void(event::Any)> report;  // an event of the daemon
  };
  Web(WebOptions options, Surroundings around);
  ~Web();
  Web(const Web&) = delete;
  Web& operator=(const Web&) = delete;

  // The daemon has taken its state.
  void on_state_taken() noexcept;

  // The tasks of the task file, whenever they have been loaded. From any thread.
  void set_tasks(std::shared_ptr<const std::vector<TaskDefinition>> tasks);

  // For every event, of the scheduler and of the daemon. Waits for nobody. Costs next to nothing if
  // nothing is served.
  void add(const TypedEvent& event) noexcept;

  // Listens, if there are addresses, and reports that. The server works in threads of its own.
  // Throws std::system_error or FileError, with a message that names the address and the remedy.
  [[nodiscard]] std::unique_ptr<http::HttpServer> serve(const Scheduler& scheduler);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;  // none: nothing is served
};

}  // namespace dutiful
