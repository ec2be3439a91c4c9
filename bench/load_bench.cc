// How late tasks start while clients load their daemon, compared with the same clients loading
// another process.
//
// There are two daemons with the same tasks. In each round the load is on one of them, in the order
// A B B A, and the starts of both are measured: those of the loaded one, and those of the other,
// on the same cores in the same seconds. The tasks fail and are retried after delays that differ,
// so that every start has an exact instant of its own and the starts spread out.
//
// Two lateness figures: of the start that the daemon logs, in whole milliseconds, before the
// command is spawned; and of the command, which reads the clock itself.

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "figures.h"
#include "live_daemon.h"
#include "observe_subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

using std::chrono::system_clock;

constexpr double limit = 1.5;
constexpr std::array<const char*, 3> instants{"woken", "logged", "command"};
constexpr std::array<int, 2> percents{50, 99};
constexpr std::chrono::seconds round_length{5};
// Until all tasks are retried in their own time, after the first runs, which begin together.
constexpr std::chrono::seconds first_retries{20};
// Before a round is measured, so that the load has reached its level.
constexpr std::chrono::milliseconds settling{500};

// Tasks that are retried for ever, about 100 starts a second if there are 1,000.
class Retried {
 public:
  Retried(const std::string& directory, std::size_t tasks)
      : stamps_(directory + "/stamps"),
        daemon_(directory, tasks, [&, minute = this_minute()](std::size_t i) {
          return "cron = \"" + minute + " * * *\"\nrun = [\"" STAMP_PROGRAM "\", \"" + stamps_ +
                 "\", \"" + std::to_string(i) + "\"]\nretry = \"" +
                 std::to_string(6'000 + i * 8'000 / tasks) + "ms\"\n";
        }) {}

  [[nodiscard]] LiveDaemon& daemon() { return daemon_; }

  struct Start {
    Instant scheduled;
    std::array<std::optional<double>, instants.size()> late_ms;  // nothing: it has not happened
  };
  [[nodiscard]] std::vector<Start> starts() {
    std::map<std::string, std::vector<system_clock::time_point>> stamps;
    std::ifstream file{stamps_, std::ios::binary};
    for (std::int64_t stamp[2]; file.read(reinterpret_cast<char*>(stamp), sizeof stamp);) {
      stamps[name_of(static_cast<std::size_t>(stamp[0]))].push_back(
          system_clock::time_point{std::chrono::nanoseconds{stamp[1]}});
    }
    std::vector<Start> starts;
    for (const LoggedStart& start : daemon_.starts()) {
      const auto& of_task = stamps[start.task];
      // A command of a task begins after its start and before the next one.
      const auto command = std::ranges::lower_bound(of_task, system_clock::time_point{start.woken});
      if (!start.is_retry) continue;
      const auto ms_late = [&](system_clock::time_point at) {
        return std::chrono::duration<double, std::milli>{at - start.scheduled}.count();
      };
      starts.push_back({start.scheduled, {ms_late(start.woken), ms_late(start.logged), {}}});
      if (command != of_task.end()) starts.back().late_ms.back() = ms_late(*command);
    }
    return starts;
  }

 private:
  std::string stamps_;
  LiveDaemon daemon_;
};

struct Round {
  system_clock::time_point begin, end;
  std::optional<std::size_t> loaded;  // nothing: without a load
};

// Of each of the instants.
using Late = std::array<std::vector<double>, instants.size()>;

void add(nlohmann::json& figure, const std::string& who, Late& late) {
  for (std::size_t i = 0; i < instants.size(); ++i) {
    if (late[i].empty()) continue;  // on a machine that is too busy, commands may not begin in time
    for (const int percent : percents) {
      figure[who + '_' + instants[i] + "_p" + std::to_string(percent) + "_ms"] =
          percentile(late[i], percent);
    }
  }
}

}  // namespace

void lateness_under(Load load, std::size_t tasks) {
  const TemporaryDirectory directories[2];
  Retried twins[2] = {{directories[0].file(""), tasks}, {directories[1].file(""), tasks}};
  for (Retried& twin : twins) twin.daemon().await("TaskRunFailed", tasks);
  std::this_thread::sleep_for(first_retries);

  std::vector<Round> rounds;
  std::size_t requests[2] = {0, 0};
  const auto measure = [&](std::optional<std::size_t> loaded) {
    std::optional<HttpLoad> now;
    if (loaded) now.emplace(load, twins[*loaded].daemon().port());
    std::this_thread::sleep_for(settling);
    const auto since = system_clock::now();
    std::this_thread::sleep_for(round_length);
    rounds.push_back({since, system_clock::now(), loaded});
    if (loaded) requests[*loaded] += now->requests();
  };
  measure({});
  for (const std::size_t loaded : {0, 1, 1, 0, 0, 1, 1, 0}) measure(loaded);
  measure({});
  // The last commands have to start.
  std::this_thread::sleep_for(settling);

  Late own;
  Late others;
  Late quiet;
  for (const std::size_t twin : {0, 1}) {
    for (const auto& start : twins[twin].starts()) {
      const auto in = [&](const Round& round) {
        return round.begin <= start.scheduled && start.scheduled < round.end;
      };
      const auto round = std::ranges::find_if(rounds, in);
      if (round == rounds.end()) continue;
      Late& late = !round->loaded ? quiet : *round->loaded == twin ? own : others;
      for (std::size_t i = 0; i < instants.size(); ++i) {
        if (start.late_ms[i]) late[i].push_back(*start.late_ms[i]);
      }
    }
  }
  nlohmann::json figure{{"starts", own.front().size()},
                        {"requests_per_second",
                         static_cast<double>(requests[0] + requests[1]) / 8 /
                             std::chrono::duration<double>{round_length + settling}.count()},
                        {"limit_ratio", limit}};
  add(figure, "quiet", quiet);
  add(figure, "own", own);
  add(figure, "other", others);
  // The daemon's instants are whole milliseconds, so less than one counts as one.
  const auto value = [&](const std::string& name) {
    return std::max(figure.value(name, 0.0), 1.0);
  };
  for (const std::string instant : instants) {
    for (const int percent : percents) {
      const std::string what = instant + "_p" + std::to_string(percent);
      if (!figure.contains("own_" + what + "_ms")) continue;
      figure["ratio_" + what] = value("own_" + what + "_ms") / value("other_" + what + "_ms");
    }
  }
  print_figure(
      load == Load::clients ? "observe.lateness.clients" : "observe.lateness.storm", tasks, figure);
}

}  // namespace dutiful::bench
