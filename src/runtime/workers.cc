#include "runtime/workers.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace dutiful {

Workers::Workers(std::size_t threads_max, Work work, Duration idle_max)
    : threads_max_(std::max<std::size_t>(threads_max, 1)),
      work_(std::move(work)),
      idle_max_(idle_max) {}

Workers::~Workers() {
  Lock lock{mutex_};
  ending_ = true;
  Queue<ActiveRun> dropped{std::move(runs_)};
  for (Worker* worker : idle_) worker->called.notify_one();
  lock.unlock();
  dropped.clear();
  // From here on nobody changes the list: threads that see `ending_` stay in it.
  for (Worker& worker : workers_) worker.thread.join();
  if (ended_.joinable()) ended_.join();
}

void Workers::start_first() {
  const Lock lock{mutex_};
  if (workers_.empty()) start_thread();
}

void Workers::add(Queue<ActiveRun> runs) noexcept {
  if (runs.empty()) return;
  const Lock lock{mutex_};
  runs_.append(std::move(runs));
  // No more than there is work for: the others would wake only to sleep again.
  for (std::size_t wanted = runs_.size(); wanted > waking_ && !idle_.empty();) {
    Worker* const worker = idle_.back();
    idle_.pop_back();
    ++waking_;
    worker->is_called = true;
    worker->called.notify_one();
  }
}

Workers::Growth Workers::grow() noexcept {
  const Lock lock{mutex_};
  const std::size_t threads = workers_.size();
  if (runs_.empty() || threads >= threads_max_) return Growth::enough;
  if (waking_ > 0) return Growth::wanted;
  const std::size_t wanted = std::min({threads + 1, runs_.size(), threads_max_ - threads});
  return start_threads(wanted) > 0 ? Growth::wanted : Growth::failed;
}

void Workers::start_thread() {
  idle_.reserve(workers_.size() + 1);
  Worker& worker = workers_.emplace_back();
  try {
    // It begins by taking the mutex, and so sees all of its worker.
    worker.thread = std::thread{[this, &worker] { work(worker); }};
  } catch (...) {
    workers_.pop_back();
    throw;
  }
}

std::size_t Workers::start_threads(std::size_t count) noexcept {
  std::size_t started = 0;
  try {
    for (; started < count; ++started) start_thread();
  } catch (const std::exception&) {
    // The host has none left. Those that there are go on.
  }
  return started;
}

void Workers::work(Worker& self) {
  Lock lock{mutex_};
  while (!ending_) {
    if (runs_.empty()) {
      if (wait_for_work(self, lock)) continue;
      std::thread before = retire(self);
      lock.unlock();
      if (before.joinable()) before.join();
      return;
    }
    std::shared_ptr<ActiveRun> run = runs_.pop();
    lock.unlock();
    work_(std::move(run));
    lock.lock();
  }
}

bool Workers::wait_for_work(Worker& self, Lock& lock) {
  self.is_called = false;
  idle_.push_back(&self);
  while (!self.is_called && !ending_) {
    // More threads are started only after every idle one was called, so the last one can wait
    // without a limit: nobody joins it meanwhile.
    if (workers_.size() == 1) {
      self.called.wait(lock);
    } else if (!self.called.wait_until(lock, std::chrono::steady_clock::now() + idle_max_) &&
               !self.is_called && workers_.size() > 1) {
      return ending_;
    }
  }
  if (self.is_called) --waking_;
  return true;
}

std::thread Workers::retire(Worker& self) {
  std::erase(idle_, &self);
  std::thread before = std::exchange(ended_, std::move(self.thread));
  std::erase_if(workers_, [&](const Worker& worker) { return &worker == &self; });
  return before;
}

}  // namespace dutiful
