// A file descriptor that closes itself.
#pragma once

#include <utility>

#include <unistd.h>

namespace dutiful {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes what open(2) and its like return; -1 is a descriptor that is not open.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void reset() noexcept {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

}  // namespace dutiful
