// The process under test: a scheduler with its state and its trace in a directory. A script drives
// its clock and its callbacks, so that each life makes the same calls on its files.
//
//   victim DIRECTORY MANNER live
//   victim DIRECTORY MANNER recover LIST MILLISECONDS
//
// `live` begins with an empty directory and registers three lists. `recover` continues at that
// instant with the existing files. It prints a line for everything that has happened, and each line
// is a promise:
//
//   time MILLISECONDS                           the clock is about to show this
//   initializing LIST, initialized LIST         initialize() is called, has returned
//   refused LIST HOW ERROR                      … has thrown; HOW is `certain` or `in-doubt`
//   started TASK REASON ATTEMPT PULSE STARTED   the callback has begun
//   returned TASK OUTCOME                       … is about to return or to throw
//   ended TASK OUTCOME                          the scheduler reports its end
//   stopping, stopped, unstopped ERROR          stop() is called, has returned, has thrown
//   unmade ERROR                                there is no scheduler, because of its trace
//   gave up                                     the store has failed again and again
//   done                                        everything is closed; no line follows
//
// The manner is what it does when a list is rejected: `exit`; `again`: retries once; `die`: kills
// itself before anything can be repaired. Two more must be caught by the judge: `hasty` prints that
// a run has ended when its callback returns, and `denying` prints that its first list was rejected.

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <unistd.h>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

#include "faults/lists.h"
#include "support/times.h"

namespace dutiful::faults {
namespace {

using namespace std::chrono_literals;

void say(const std::string& words) {
  const std::string line = words + '\n';
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::abort();
  }
}

std::string milliseconds(Instant instant) {
  return std::to_string(instant.time_since_epoch().count());
}

std::string text_of(const Event& event, std::string_view name) {
  for (const EventField& field : event.fields) {
    if (field.name == name) return std::get<std::string>(field.value);
  }
  return "";
}

// Whether the change may have happened nevertheless.
bool is_in_doubt(const Error& error) {
  const auto* failure = dynamic_cast<const StoreError*>(&error);
  return failure != nullptr && failure->in_doubt();
}

struct GaveUp {};
struct Refused {};

class Victim {
 public:
  Victim(std::string directory, std::string manner, Instant begin)
      : directory_(std::move(directory)),
        manner_(std::move(manner)),
        clock_(std::make_shared<ManualClock>(begin)) {
    say("time " + milliseconds(begin));
  }

  template <typename Script>
  void live(Script script) {
    try {
      make_scheduler();
      script(*this);
    } catch (const GaveUp&) {
      say("gave up");
      stop();
    } catch (const Refused&) {
      if (scheduler_) stop();
    }
    scheduler_.reset();
    say("done");
  }

  void initialize(const std::string& name) {
    for (int tries_left = manner_ == "again" ? 2 : 0;; --tries_left) {
      say("initializing " + name);
      try {
        scheduler_->initialize(registrations_of(name));
        break;
      } catch (const Error& error) {
        say("refused " + name + (is_in_doubt(error) ? " in-doubt " : " certain ") + error.what());
        if (manner_ == "die") kill(getpid(), SIGKILL);
        if (tries_left == 0) throw Refused{};
      }
    }
    if (manner_ == "denying") {
      say("refused " + name + " certain not really");
      kill(getpid(), SIGKILL);
    }
    say("initialized " + name);
  }

  // Starts everything that is due now, then ends all runs one after the other.
  void finish_runs() {
    clock_->set(clock_->now());
    do {
      while (const auto task = first_running()) end(*task);
    } while (gave_store_time());
  }

  void end(const std::string& task) {
    release(task);
    await([&] { return !running_.contains(task); });
  }

  // Waits until these callbacks have begun.
  void expect(const std::set<std::string>& tasks) {
    await([&] { return std::includes(begun_.begin(), begun_.end(), tasks.begin(), tasks.end()); });
  }

  void stop() {
    say("stopping");
    bool over = false;
    std::string how = "stopped";
    std::thread stopper{[&] {
      try {
        scheduler_->stop();
      } catch (const Error& error) {
        how = std::string{"unstopped "} + error.what();
      }
      const std::lock_guard lock{mutex_};
      over = true;
      changed_.notify_all();
    }};
    {
      // Until then, the retry delays of a failing store keep growing.
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return over || std::exchange(stop_requested_, false); });
    }
    // stop() waits for runs, and for a failing store, but not for ever for the store.
    for (bool runs = true; runs;) {
      tries_left_ = tries_max_of_stop;
      await([&] { return over || !begun_.empty(); });
      const std::lock_guard lock{mutex_};
      runs = !over;
      released_.insert(begun_.begin(), begun_.end());
      changed_.notify_all();
      begun_.clear();
    }
    stopper.join();
    say(how);
  }

  void advance_to(Instant instant) {
    const Instant to = std::max(instant, clock_->now());
    say("time " + milliseconds(to));
    clock_->set(to);
  }
  void advance_to_minute() {
    advance_to(std::chrono::floor<std::chrono::minutes>(clock_->now()) + 1min);
  }
  // Advances to the retry of a task that failed in this life, if any, and lets it end.
  void retry() {
    std::optional<Instant> retry;
    {
      const std::lock_guard lock{mutex_};
      retry = retry_at_;
    }
    if (!retry) return;
    advance_to(*retry);
    expect({"shaky"});
    finish_runs();
  }

 private:
  // After this many failures in a row, a store is given up: the theory allows a minute, and the
  // store's delays, which double each time, add up to half of it.
  static constexpr int tries_max = 8;
  static constexpr int tries_max_of_stop = 1000;  // stop() gives up by itself

  void make_scheduler() {
    for (int tries_left = manner_ == "again" ? 2 : 0;; --tries_left) {
      try {
        scheduler_.emplace(Options{.state = directory_ + "/state.db",
                                   .reinitialize = Reinitialize::reconcile,
                                   .zone = Zone::utc(),
                                   .clock = clock_,
                                   .events = [this](const Event& event) { on(event); },
                                   .trace = directory_ + "/trace.jsonl"});
        return;
      } catch (const Error& error) {
        say(std::string{"unmade "} + error.what());
        if (tries_left == 0) throw Refused{};
      }
    }
  }

  std::vector<Registration> registrations_of(const std::string& name) {
    std::vector<Registration> registrations;
    for (const Listed& task : lists().at(name)) {
      registrations.push_back({.name = task.name,
                               .cron = task.cron,
                               .callback = [this](const RunInfo& run) { work(run); },
                               .retry_delay = task.retry_delay});
    }
    return registrations;
  }

  // Runs until the script lets it end. Every other attempt of shaky fails.
  void work(const RunInfo& run) {
    say("started " + run.task + ' ' + name_of(run.reason) + ' ' + std::to_string(run.attempt) +
        ' ' + milliseconds(run.pulse) + ' ' + milliseconds(run.started));
    {
      std::unique_lock lock{mutex_};
      begun_.insert(run.task);
      changed_.notify_all();
      changed_.wait(lock, [&] { return released_.contains(run.task); });
      released_.erase(run.task);
      begun_.erase(run.task);
    }
    const bool fails = run.task == "shaky" && run.attempt % 2 == 1;
    const std::string outcome = run.task + (fails ? " failure" : " success");
    say("returned " + outcome);
    if (manner_ == "hasty") say("ended " + outcome);
    if (fails) throw std::runtime_error("it was to fail");
  }

  // Called by the scheduler's threads.
  void on(const Event& event) {
    const std::lock_guard lock{mutex_};
    const std::string task = text_of(event, "taskName");
    if (event.name == "TaskRunStarted") {
      running_.insert(task);
      if (task == "shaky") retry_at_.reset();  // only shaky ever fails
    }
    if (event.name == "TaskRunCompleted" || event.name == "TaskRunFailed") {
      const bool failed = event.name == "TaskRunFailed";
      if (manner_ != "hasty") say("ended " + task + (failed ? " failure" : " success"));
      running_.erase(task);
      if (failed) retry_at_ = at(text_of(event, "nextRetryAt"));
    }
    if (event.name == "SchedulerStopRequested") {
      stop_requested_ = true;
      try_again_at_.reset();  // it is retried at once
    }
    if (event.name == "StoreFailed") try_again_at_ = at(text_of(event, "nextTryAt"));
    changed_.notify_all();
  }

  // Waits until the condition holds.
  template <typename Condition>
  void await(Condition condition) {
    while (true) {
      {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return condition() || try_again_at_; });
        if (condition()) break;
      }
      gave_store_time();
    }
    tries_left_ = tries_max;
  }

  // Advances by the retry delay of a failed store. Returns whether there was one.
  bool gave_store_time() {
    std::optional<Instant> again;
    {
      const std::lock_guard lock{mutex_};
      again = std::exchange(try_again_at_, std::nullopt);
      if (again && --tries_left_ <= 0) throw GaveUp{};
    }
    if (again) advance_to(*again);
    return again.has_value();
  }

  std::optional<std::string> first_running() {
    const std::lock_guard lock{mutex_};
    if (running_.empty()) return std::nullopt;
    return *running_.begin();
  }

  void release(const std::string& task) {
    const std::lock_guard lock{mutex_};
    released_.insert(task);
    changed_.notify_all();
  }

  std::string directory_;
  std::string manner_;
  std::shared_ptr<ManualClock> clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> running_;   // according to the events
  std::set<std::string> begun_;     // according to the callbacks
  std::set<std::string> released_;  // runs that may end
  std::optional<Instant> retry_at_;
  std::optional<Instant> try_again_at_;
  bool stop_requested_ = false;
  int tries_left_ = tries_max;
  std::optional<Scheduler> scheduler_;  // declared last, because its threads use the rest
};

// Begins in a minute that matches every task, so they boot.
void live(Victim& victim) {
  victim.initialize("X");
  victim.finish_runs();
  victim.retry();
  victim.advance_to_minute();
  victim.expect({"dropped", "shaky", "steady"});
  victim.finish_runs();
  victim.stop();

  victim.initialize("Y");
  victim.finish_runs();
  victim.retry();
  victim.advance_to_minute();
  victim.expect({"late", "shaky", "steady"});
  victim.end("late");

  // While two of them run.
  victim.initialize("Z");
  victim.finish_runs();
  victim.retry();
  victim.stop();
}

void recover(Victim& victim, const std::string& list) {
  std::set<std::string> tasks;
  for (const Listed& task : lists().at(list)) tasks.insert(task.name);
  victim.initialize(list);
  victim.finish_runs();
  victim.retry();
  victim.advance_to_minute();
  victim.expect(tasks);
  victim.finish_runs();
  victim.retry();
  victim.stop();
}

}  // namespace
}  // namespace dutiful::faults

int main(int argc, char** argv) {
  using namespace dutiful;
  using namespace dutiful::faults;
  const std::string what = argc > 3 ? argv[3] : "";
  if (what == "live" && argc == 4) {
    Victim victim{argv[1], argv[2], first_life_begins};
    victim.live([](Victim& self) { live(self); });
    return 0;
  }
  if (what == "recover" && argc == 6) {
    Victim victim{argv[1], argv[2], Instant{Duration{std::stoll(argv[5])}}};
    victim.live([&](Victim& self) { recover(self, argv[4]); });
    return 0;
  }
  std::cerr << "usage: victim DIRECTORY MANNER live | recover LIST MILLISECONDS\n";
  return 2;
}
