#include "daemon/failure_counts.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sync/back_off.h"

namespace dutiful {
namespace {

using Steady = std::chrono::steady_clock;

}  // namespace

FailureCounts::FailureCounts(Options options) : options_(std::move(options)) {}

FailureCounts::~FailureCounts() {
  std::thread thread;
  {
    const Lock lock{mutex_};
    ending_ = true;
    if (!unwritten_.empty()) start_thread();
    thread = std::move(thread_);
  }
  changed_.notify_one();
  if (thread.joinable()) thread.join();
}

void FailureCounts::load() noexcept {
  try {
    const std::string path = failures_of(options_.state);
    std::error_code ignored;
    // A link that leads nowhere exists too, and is refused.
    if (std::filesystem::symlink_status(path, ignored).type() ==
        std::filesystem::file_type::not_found) {
      return;
    }
    FailureStreaks read = FailureFile{path}.read();
    const Lock lock{mutex_};
    streaks_ = std::move(read);
  } catch (const std::exception& error) {
    report(error, std::nullopt);
  }
}

FailureStreak FailureCounts::of(std::string_view task) const {
  const Lock lock{mutex_};
  const auto found = streaks_.find(task);
  return found == streaks_.end() ? FailureStreak{} : found->second;
}

void FailureCounts::set(const std::string& task, FailureStreak streak) {
  {
    const Lock lock{mutex_};
    const auto [place, is_new] = streaks_.try_emplace(task);
    if (!is_new && place->second == streak) return;
    if (!is_new || streak.failures > 0) {
      try {
        unwritten_[task] = streak;
      } catch (...) {
        if (is_new) streaks_.erase(place);
        throw;
      }
    }
    place->second = streak;
    if (streak.failures == 0) streaks_.erase(place);
    if (unwritten_.empty()) return;
    start_thread();
  }
  changed_.notify_one();
}

void FailureCounts::keep_only(const std::set<std::string, std::less<>>& tasks) {
  {
    const Lock lock{mutex_};
    for (auto next = streaks_.begin(); next != streaks_.end();) {
      if (tasks.contains(next->first)) {
        ++next;
      } else {
        unwritten_[next->first] = {};
        next = streaks_.erase(next);
      }
    }
    if (unwritten_.empty()) return;
    start_thread();
  }
  changed_.notify_one();
}

// If there is no thread to be had, the next change and the end try again.
void FailureCounts::start_thread() noexcept {
  if (thread_.joinable()) return;
  try {
    thread_ = std::thread{[this] { loop(); }};
  } catch (const std::exception&) {
  }
}

void FailureCounts::loop() noexcept {
  BackOff back_off;
  Time next_try{};
  Lock lock{mutex_};
  while (true) {
    while (!ending_ && unwritten_.empty()) changed_.wait(lock);
    if (unwritten_.empty()) break;
    while (!ending_ && back_off.waits() && Steady::now() < next_try) {
      changed_.wait_until(lock, next_try);
    }
    const bool is_last_try = ending_;
    FailureStreaks changes = std::exchange(unwritten_, {});
    lock.unlock();
    try {
      write(changes);
      back_off.succeed();
      (void)trouble_.recover(0);
      lock.lock();
      continue;
    } catch (const std::exception& error) {
      file_.reset();
      next_try = Steady::now() + back_off.fail();
      report(error, is_last_try ? std::nullopt : std::optional{back_off.delay()});
    }
    lock.lock();
    // Changes that were made meanwhile are newer.
    unwritten_.merge(changes);
    if (is_last_try) break;
  }
}

void FailureCounts::write(FailureStreaks changes) {
  if (file_ && !file_->is_there()) file_.reset();
  if (!file_) {
    file_.emplace(failures_of(options_.state));
    // The file may be new: it gets every count, except those that have changed since.
    const Lock lock{mutex_};
    FailureStreaks all = streaks_;
    changes.merge(all);
  }
  file_->write(changes);
}

void FailureCounts::report(const std::exception& error, std::optional<Duration> next_try) noexcept {
  try {
    const Time now = Steady::now();
    if (!trouble_.should_report(error.what(), 0, now)) return;
    options_.on_failure(error, next_try);
    trouble_.set_reported(error.what(), now);
  } catch (const std::exception&) {
    // There is no memory to report it. The next failure is reported instead.
  }
}

}  // namespace dutiful
