// A stop that takes long, on a thread of its own.
#pragma once

#include <cerrno>
#include <cstdint>
#include <exception>
#include <functional>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "commands/descriptor.h"

namespace dutiful {

// Does what takes long and ends the daemon, while others are served. It has its thread from the
// start: when it is needed there may be none to be had.
class Stopper {
 public:
  explicit Stopper(std::function<void()> stop)
      : stop_(std::move(stop)), done_(eventfd(0, EFD_CLOEXEC)) {
    if (!done_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
    thread_ = std::jthread{[this] { work(); }};
  }
  ~Stopper() {
    if (is_asked()) return;
    cancelled_ = true;
    asked_.release();
  }
  Stopper(const Stopper&) = delete;
  Stopper& operator=(const Stopper&) = delete;

  // For one thread, as is all that follows.
  void ask() {
    if (!std::exchange(is_asked_, true)) asked_.release();
  }
  [[nodiscard]] bool is_asked() const { return is_asked_; }
  // Readable when it is done.
  [[nodiscard]] int descriptor() const { return done_.get(); }
  // Waits for it, and says what it threw.
  std::exception_ptr finish() {
    thread_.join();
    return error_;
  }

 private:
  void work() {
    asked_.acquire();
    if (cancelled_) return;
    try {
      stop_();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(done_.get(), &one, sizeof one);
  }

  const std::function<void()> stop_;
  const Descriptor done_;
  std::binary_semaphore asked_{0};
  bool is_asked_ = false;   // the asking thread's own
  bool cancelled_ = false;  // set before it is asked
  std::exception_ptr error_;
  std::jthread thread_;
};

}  // namespace dutiful
