#include "page/world/past.h"

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include <dutiful/testing.h>

#include "daemon/history_entry.h"
#include "daemon/history_file.h"
#include "daemon/history_path.h"
#include "text/quote.h"

namespace dutiful::page_world {
namespace {

using std::chrono::milliseconds;

// A life of a daemon: a scheduler, the commands that it started, and the history it writes.
class Life {
 public:
  Life(const Past& past, const Zone& zone, Instant from)
      : past_(past),
        started_(from),
        clock_(std::make_shared<ManualClock>(from)),
        history_(history_of(past.state())),
        scheduler_({.state = past.state(),
                    .zone = zone,
                    .clock = clock_,
                    .events = [this](const Event& event) { count(event); },
                    .prepare =
                        [this, from] {
                          for (HistoryEntry& run : interrupted_runs(past_.state(), from)) {
                            entries_.push_back(std::move(run));
                          }
                        }}) {
    std::vector<Registration> list;
    for (const PastTask& task : past.tasks()) {
      list.push_back({.name = task.name,
                      .cron = task.cron,
                      .callback = [this, &task](Run run) { hold(task, std::move(run)); },
                      .retry_delay = task.retry_delay});
    }
    scheduler_.initialize(std::move(list));
  }

  void go_on(Instant until) {
    while (true) {
      const Instant due = await_starts();
      const Instant now = clock_->now();
      // A daemon starts what is due some milliseconds later.
      const Instant start =
          due == Instant::max() ? due : std::max(due, now) + milliseconds{2 + scramble(due) % 19};
      const Instant next = std::min(start, first_end());
      if (next >= until) break;
      clock_->advance(next - now);
      settle(next);
    }
    clock_->advance(until - clock_->now());
    write();
  }

  void stop() {
    // A stop waits for the runs.
    while (!running_.empty()) {
      const Instant next = first_end();
      clock_->advance(next - clock_->now());
      settle(next);
      (void)await_starts();
    }
    scheduler_.stop();
    write();
  }

 private:
  struct Running {
    Run run;
    Outcome outcome;
  };

  static std::uint64_t scramble(Instant instant) {
    return page_world::scramble(static_cast<std::uint64_t>(instant.time_since_epoch().count()));
  }

  void hold(const PastTask& task, Run run) {
    Outcome outcome = task.outcome(run.info());
    const auto end = std::pair{run.info().started + outcome.duration, run.info().fence};
    const std::lock_guard lock{mutex_};
    running_.emplace(end, Running{std::move(run), std::move(outcome)});
    changed_.notify_one();
  }

  void count(const Event& event) {
    if (event.name != "TaskRunCompleted" && event.name != "TaskRunFailed") return;
    const std::lock_guard lock{mutex_};
    ++ended_;
    changed_.notify_one();
  }

  // Waits until everything that is due has started, and every run has reached its callback. Returns
  // when the next one is due.
  Instant await_starts() {
    SchedulerStatus status = scheduler_.status();
    while (!is_quiet(status)) {
      std::this_thread::yield();
      status = scheduler_.status();
    }
    Instant due = Instant::max();
    for (const TaskStatus& task : status.tasks) {
      if (task.state == TaskStatus::State::running) continue;
      if (const auto next = task.next_due()) due = std::min(due, *next);
    }
    return due;
  }

  bool is_quiet(const SchedulerStatus& status) {
    const bool is_due = std::ranges::any_of(status.tasks, [](const TaskStatus& task) {
      return task.owed && task.owed->waits_for == TaskStatus::WaitsFor::nothing;
    });
    const std::lock_guard lock{mutex_};
    return !is_due && running_.size() == status.running;
  }

  Instant first_end() {
    const std::lock_guard lock{mutex_};
    return running_.empty() ? Instant::max() : running_.begin()->first.first;
  }

  // Ends the runs that end by now, and waits until that is recorded.
  void settle(Instant now) {
    std::unique_lock lock{mutex_};
    std::uint64_t expected = ended_;
    std::list<Running> ending;
    while (!running_.empty() && running_.begin()->first.first <= now) {
      ending.push_back(std::move(running_.begin()->second));
      running_.erase(running_.begin());
      ++expected;
    }
    lock.unlock();
    for (Running& running : ending) settle(running);
    lock.lock();
    changed_.wait(lock, [&] { return ended_ >= expected; });
    lock.unlock();
    if (entries_.size() > 1000) write();
  }

  void settle(Running& running) {
    const Outcome& outcome = running.outcome;
    HistoryEntry entry{.result = {.run = running.run.info()}};
    entry.scheduled = entry.result.run.scheduled;
    entry.result.run.stop = {};
    entry.result.run.must_end = {};
    entry.result.run.stop_state = {};
    CommandResult& result = entry.result;
    result.duration = outcome.duration;
    result.process = 2000 + static_cast<pid_t>(result.run.fence % 30'000);
    if (outcome.signal != 0) {
      result.signal = outcome.signal;
    } else {
      result.exit_status = outcome.exit_status;
    }
    result.past_time_limit = outcome.past_time_limit;
    result.user_time = outcome.duration / 5;
    result.system_time = outcome.duration / 30;
    result.memory_max = std::int64_t{8 << 20} +
                        static_cast<std::int64_t>(page_world::scramble(result.run.fence) % 64) *
                            std::int64_t{1 << 20};
    result.output = outcome.output;
    result.output_total = outcome.output.size();
    const bool succeeded = result.succeeded();
    const std::string reason = succeeded ? "" : reason_of(result);
    entries_.push_back(std::move(entry));
    if (succeeded) {
      running.run.succeed();
    } else {
      running.run.fail(reason);
    }
  }

  void write() {
    const Uptime uptime{.started = started_, .seen = clock_->now()};
    history_.write(entries_, {&uptime, 1}, Retention{});
    entries_.clear();
  }

  const Past& past_;
  const Instant started_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<Instant, std::uint64_t>, Running> running_;  // by end and fence
  std::uint64_t ended_ = 0;
  std::shared_ptr<ManualClock> clock_;
  HistoryFile history_;
  std::list<HistoryEntry> entries_;  // that are not written yet
  Scheduler scheduler_;
};

void write_task_file(const std::string& path, const std::vector<PastTask>& tasks) {
  std::ofstream out{path};
  for (const PastTask& task : tasks) {
    out << "[[task]]\nname = ";
    // TOML has the escapes of JSON, but wants that of one more character.
    std::string name;
    for (const char c : json_string(task.name)) {
      if (c == '\x7f') {
        name += "\\u007f";
      } else {
        name += c;
      }
    }
    out << name << "\ncron = \"" << task.cron << "\"\nretry = \"" << task.retry_delay.count()
        << "ms\"\n"
        << task.settings << "\n\n";
  }
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

std::uint64_t scramble(std::uint64_t value) {
  // SplitMix64.
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::uint64_t scramble(const RunInfo& run) {
  std::uint64_t value = static_cast<std::uint64_t>(run.pulse.time_since_epoch().count());
  for (const char c : run.task) value = scramble(value ^ static_cast<unsigned char>(c));
  return scramble(value ^ run.attempt);
}

Duration between(const RunInfo& run, Duration least, Duration greatest) {
  const auto span = static_cast<std::uint64_t>((greatest - least).count()) + 1;
  return least + Duration{static_cast<Duration::rep>(scramble(run) % span)};
}

Past::Past(std::string directory, Zone zone, std::vector<PastTask> tasks)
    : directory_(std::move(directory)), zone_(std::move(zone)), tasks_(std::move(tasks)) {
  write_task_file(directory_ + "/tasks.toml", tasks_);
}

std::string Past::state() const {
  return directory_ + "/tasks.db";
}

void Past::live(Instant from, Instant until, EndOfLife end) const {
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("cannot fork");
  if (process == 0) {
    try {
      // Its destructor would stop it, but a crash does not.
      auto* life = new Life{*this, zone_, from};
      life->go_on(until);
      if (end == EndOfLife::stop) {
        life->stop();
        delete life;
      }
    } catch (const std::exception& error) {
      (void)fprintf(stderr, "page_world: %s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  if (waitpid(process, &status, 0) != process || status != 0) {
    throw std::runtime_error("a life has failed");
  }
}

}  // namespace dutiful::page_world
