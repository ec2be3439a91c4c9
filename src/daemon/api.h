// The answers to HTTP requests: tasks, runs, accounts, timelines, metrics and probes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/calendar.h>
#include <dutiful/status.h>

#include "daemon/account_report.h"
#include "daemon/daemon_info.h"
#include "daemon/history_reader.h"
#include "daemon/recent_runs.h"
#include "daemon/state_watch.h"
#include "daemon/timeline_json.h"
#include "http/request.h"
#include "http/response.h"
#include "runtime/loop_probe.h"
#include "tasks/task_file.h"

namespace dutiful {

// Reads only. docs/http.md and openapi.json describe the answers. Safe to use from several threads
// if the sources are.
class Api {
 public:
  // Where the answers come from.
  struct Sources {
    std::function<Instant()> now;
    std::function<SchedulerStatus()> status;
    std::function<RecentLookup()> recent;
    std::function<DaemonInfo()> daemon;
    // A task of the task file; nullptr if it has none of that name.
    std::function<std::shared_ptr<const TaskDefinition>(const std::string& name)> definition;
    std::function<LoopProbe::Answer()> loop;
    std::function<StateFile()> state_file;
    std::function<RunPage(const RunQuery&)> runs;
    std::function<std::optional<HistoryEntry>(std::int64_t id)> run;
    std::function<std::vector<TaskAccount>(const AccountQuery&)> accounts;
    TimelineSources timeline;
    std::function<std::string(SchedulerStatus)> metrics;
    Calendar calendar;
    std::string file;      // of the tasks
    Duration overdue_max;  // beyond this, the daemon is not ready
    // Whether probes may show names of tasks: everyone may ask them, also without the token.
    bool probes_name_tasks = true;
  };
  explicit Api(Sources sources) : sources_(std::move(sources)) {}

  [[nodiscard]] http::Response answer(const http::Request& request) const;

  // Whether the path is a probe, which needs no token.
  [[nodiscard]] static bool is_probe(std::string_view path) {
    return path == "/healthz" || path == "/readyz";
  }

 private:
  [[nodiscard]] http::Response answer_api(const http::Request& request) const;
  [[nodiscard]] http::Response tasks(const http::Request& request) const;
  [[nodiscard]] http::Response task(const http::Request& request, const std::string& name) const;
  [[nodiscard]] http::Response runs(const http::Request& request) const;
  [[nodiscard]] http::Response run(const http::Request& request, const std::string& id) const;
  [[nodiscard]] http::Response account(const http::Request& request) const;

  Sources sources_;
};

}  // namespace dutiful
