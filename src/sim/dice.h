// Random numbers that are the same everywhere.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

#include <dutiful/time.h>

namespace dutiful {

// Draws numbers in a way that does not depend on the standard library, unlike its distributions.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // 0 … n - 1
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  int between(int low, int high) {
    const int sides = high - low + 1;
    return low + static_cast<int>(below(static_cast<std::uint64_t>(sides)));
  }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }
  template <typename Container>
  const auto& one_of(const Container& container) {
    return container[below(std::size(container))];
  }
  Duration up_to(Duration most) {
    return Duration{
        static_cast<Duration::rep>(below(static_cast<std::uint64_t>(most.count()) + 1))};
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace dutiful
