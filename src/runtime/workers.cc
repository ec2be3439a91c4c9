#include "runtime/workers.h"

#include <algorithm>
#include <exception>
#include <iterator>

namespace dutiful {

Workers::Workers(std::size_t threads_max) : threads_max_(std::max<std::size_t>(threads_max, 1)) {}

Workers::~Workers() {
  {
    const std::lock_guard lock{mutex_};
    ending_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::add(std::vector<Job> jobs) {
  const std::lock_guard lock{mutex_};
  std::ranges::move(jobs, std::back_inserter(jobs_));
  if (threads_.empty()) start_threads(1);
  // No more than there is work for: the others would wake only to sleep again.
  const std::size_t wanted = std::min(idle_, jobs_.size());
  for (std::size_t i = 0; i < wanted; ++i) changed_.notify_one();
}

bool Workers::grow() noexcept {
  const std::lock_guard lock{mutex_};
  if (jobs_.empty() || threads_.size() >= threads_max_) return false;
  if (idle_ > 0) return true;
  start_threads(std::min({threads_.size() + 1, jobs_.size(), threads_max_ - threads_.size()}));
  return true;
}

void Workers::start_threads(std::size_t count) noexcept {
  try {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // The host has none left. Those that there are go on, and grow() tries again (RULES X3).
  }
}

void Workers::work() {
  std::unique_lock lock{mutex_};
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    --idle_;
    if (ending_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;  // what it holds is let go before the next wait
    lock.lock();
  }
}

}  // namespace dutiful
