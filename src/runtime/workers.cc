#include "runtime/workers.h"

#include <algorithm>
#include <exception>

namespace dutiful {

Workers::Workers(std::size_t threads_max, Work work)
    : threads_max_(std::max<std::size_t>(threads_max, 1)), work_(std::move(work)) {}

Workers::~Workers() {
  {
    const Lock lock{mutex_};
    ending_ = true;
    runs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::add(Queue<ActiveRun> runs) noexcept {
  if (runs.empty()) return;
  const Lock lock{mutex_};
  runs_.append(std::move(runs));
  if (threads_.empty()) start_threads(1);
  // No more than there is work for: the others would wake only to sleep again.
  const std::size_t wanted = std::min(idle_, runs_.size());
  for (std::size_t i = 0; i < wanted; ++i) changed_.notify_one();
}

Workers::Growth Workers::grow() noexcept {
  const Lock lock{mutex_};
  if (runs_.empty() || threads_.size() >= threads_max_) return Growth::enough;
  if (idle_ > 0) return Growth::wanted;
  const std::size_t wanted =
      std::min({threads_.size() + 1, runs_.size(), threads_max_ - threads_.size()});
  return start_threads(wanted) > 0 ? Growth::wanted : Growth::failed;
}

std::size_t Workers::start_threads(std::size_t count) noexcept {
  std::size_t started = 0;
  try {
    for (; started < count; ++started) threads_.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // The host has none left. Those that there are go on.
  }
  return started;
}

void Workers::work() {
  Lock lock{mutex_};
  while (true) {
    ++idle_;
    while (!ending_ && runs_.empty()) changed_.wait(lock);
    --idle_;
    if (ending_) return;
    std::shared_ptr<ActiveRun> run = runs_.pop();
    lock.unlock();
    work_(*run);
    run = nullptr;  // what it holds is let go before the next wait
    lock.lock();
  }
}

}  // namespace dutiful
