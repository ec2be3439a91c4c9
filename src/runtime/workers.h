// The threads that callbacks run on.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dutiful {

// As many threads as the work needs, up to a bound. Quick callbacks share few; where work waits,
// the number doubles each time that grow() is called.
class Workers {
 public:
  explicit Workers(std::size_t threads_max);
  // Waits for the work that is under way, and drops what has not begun.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Each job is run once, by some thread, and must not throw.
  using Job = std::function<void()>;
  void add(std::vector<Job> jobs);

  // Starts more threads if there is work that no thread has taken up; says whether there is some
  // left that more threads could do.
  bool grow() noexcept;

 private:
  void work();
  void start_threads(std::size_t count) noexcept;

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace dutiful
