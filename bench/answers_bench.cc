// How long a live daemon takes to answer one client over the loopback. Every task has run; one in
// ten has failed and awaits its retry.

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "figures.h"
#include "live_daemon.h"
#include "observe_subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

constexpr int requests = 40;

nlohmann::json measure(HttpClient& client, const std::string& target) {
  std::vector<double> ms;
  std::size_t bytes = 0;
  for (int i = 0; i < requests; ++i) {
    ms.push_back(1e3 * seconds_of([&] { bytes = client.get(target); }));
    if (bytes == 0 || client.status() != 200) throw std::runtime_error("no answer to " + target);
  }
  return {{"bytes", bytes}, {"median_ms", percentile(ms, 50)}, {"worst_ms", percentile(ms, 100)}};
}

}  // namespace

void answers(std::size_t tasks) {
  const TemporaryDirectory directory;
  const std::string minute = this_minute();
  // Different expressions, as in a real file; all are due now, and again in an hour or later.
  LiveDaemon daemon{directory.file(""), tasks, [&](std::size_t i) {
                      return "cron = \"" + minute + ',' + std::to_string(i % 24) +
                             " * * *\"\nretry = \"6h\"\nrun = [\"/bin/" +
                             (i % 10 == 0 ? "false" : "true") + "\"]\n";
                    }};
  daemon.await("TaskRunFailed", (tasks + 9) / 10);
  daemon.await("TaskRunCompleted", tasks - (tasks + 9) / 10);

  HttpClient client{daemon.port()};
  const auto print = [&](const std::string& name, const std::string& target, double limit_ms) {
    auto figure = measure(client, target);
    if (limit_ms > 0) figure["limit_ms"] = limit_ms;
    print_figure("observe.answer." + name, tasks, figure);
  };
  print("tasks", "/api/v1/tasks", 50);
  print("scrape", "/metrics", 20);
  print("runs", "/api/v1/runs", 0);
  print("account", "/api/v1/account", 0);
  print("ready", "/readyz", 0);
}

}  // namespace dutiful::bench
