// What other threads did, and a gate to hold them at, for tests to wait with.
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace dutiful {

// What callbacks did, for the test's thread to wait for.
class Journal {
 public:
  void add(std::string entry) {
    const std::lock_guard lock{mutex_};
    entries_.push_back(std::move(entry));
    changed_.notify_all();
  }
  // Waits until there are so many entries; fails where they do not come.
  std::vector<std::string> wait_for(std::size_t count) {
    const bool came = comes(count, std::chrono::seconds{60});
    const std::lock_guard lock{mutex_};
    EXPECT_TRUE(came) << "only " << entries_.size() << " of " << count << " came";
    return entries_;
  }
  // Whether there are so many within that time.
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

// A callback that is held until the test lets it go.
class Gate {
 public:
  void open() { opened_.set_value(); }
  void pass() { future_.wait(); }

 private:
  std::promise<void> opened_;
  std::shared_future<void> future_ = opened_.get_future().share();
};

}  // namespace dutiful
