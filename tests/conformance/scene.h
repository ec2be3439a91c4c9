// A small language for the rules: a scheduler in virtual time and the starts of its tasks.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include <dutiful/testing.h>

#include "support/times.h"

namespace dutiful {

// Tasks succeed at once unless scripted otherwise. Every start is noted as "10:00:00 task reason".
class Scene {
 public:
  explicit Scene(const char* now, Options options = {.zone = Zone::utc()})
      : scheduler_(at(now), std::move(options)) {}

  // What the next runs of a task do: succeed, fail, or keep running until end().
  enum class Does { succeed, fail, keep_running };
  void script(const std::string& task, std::deque<Does> runs) { scripts_[task] = std::move(runs); }

  struct Task {
    std::string name;
    std::string cron;
    Duration retry_delay = std::chrono::minutes{5};
  };
  void initialize(const std::vector<Task>& tasks) {
    std::vector<Registration> list;
    for (const Task& task : tasks) {
      list.push_back(
          {task.name, task.cron, [this](Run run) { take(std::move(run)); }, task.retry_delay});
    }
    scheduler_.initialize(std::move(list));
  }
  void stop() { scheduler_.stop(); }
  void crash() {
    scheduler_.crash();
    running_.clear();
  }
  void advance(Duration duration) { scheduler_.advance(duration); }
  void advance_to(const char* time) { advance(at(time) - scheduler_.now()); }

  // Ends the run of a task that keeps running.
  void end(const std::string& task) {
    running_.at(task).succeed();
    running_.erase(task);
    advance(Duration::zero());
  }
  void fail(const std::string& task) {
    running_.at(task).fail("on purpose");
    running_.erase(task);
    advance(Duration::zero());
  }

  // The starts since the last call.
  std::vector<std::string> starts() { return std::exchange(starts_, {}); }
  // The keys and fences of all runs so far, in the order of their starts (P8).
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<std::uint64_t>& fences() const { return fences_; }

 private:
  void take(Run run) {
    static constexpr const char* reasons[] = {"cron", "retry", "orphan", "boot"};
    const RunInfo& info = run.info();
    starts_.push_back(format_utc(info.started).substr(11, 8) + ' ' + info.task + ' ' +
                      reasons[static_cast<std::size_t>(info.reason)]);
    keys_.push_back(info.key());
    fences_.push_back(info.fence);
    auto& script = scripts_[info.task];
    const Does does = script.empty() ? Does::succeed : script.front();
    if (!script.empty()) script.pop_front();
    if (does == Does::succeed) run.succeed();
    if (does == Does::fail) run.fail("on purpose");
    if (does == Does::keep_running) running_.emplace(info.task, std::move(run));
  }

  std::map<std::string, std::deque<Does>> scripts_;
  std::map<std::string, Run> running_;
  std::vector<std::string> starts_;
  std::vector<std::string> keys_;
  std::vector<std::uint64_t> fences_;
  VirtualScheduler scheduler_;
};

using Starts = std::vector<std::string>;
using Keys = std::vector<std::string>;
using Fences = std::vector<std::uint64_t>;
using Does = Scene::Does;

}  // namespace dutiful
