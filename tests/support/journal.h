// A journal and a gate, for tests that wait for other threads.
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace dutiful {

// Entries that callbacks make and the test's thread waits for.
class Journal {
 public:
  void add(std::string entry) {
    const std::lock_guard lock{mutex_};
    entries_.push_back(std::move(entry));
    changed_.notify_all();
  }
  // Waits until there are this many entries; fails the test if they do not arrive.
  std::vector<std::string> wait_for(std::size_t count) {
    const bool came = comes(count, std::chrono::seconds{60});
    const std::lock_guard lock{mutex_};
    EXPECT_TRUE(came) << "only " << entries_.size() << " of " << count << " came";
    return entries_;
  }
  // Whether there are this many entries within that time.
  bool comes(std::size_t count, std::chrono::milliseconds within) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, within, [&] { return entries_.size() >= count; });
  }
  std::size_t size() {
    const std::lock_guard lock{mutex_};
    return entries_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> entries_;
};
using Entries = std::vector<std::string>;

// Holds a callback until the test releases it.
class Gate {
 public:
  void open() { opened_.set_value(); }
  void pass() { future_.wait(); }

 private:
  std::promise<void> opened_;
  std::shared_future<void> future_ = opened_.get_future().share();
};

}  // namespace dutiful
