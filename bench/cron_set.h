// The set for all cron benchmarks: random expressions and instants, the same everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dutiful/time.h>

namespace dutiful {

inline constexpr const char* bench_zone = "America/New_York";

// Everything follows from one seed by our own arithmetic, so the set is the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // Splitmix64, by Sebastiano Vigna.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // A number from low to high, both inclusive.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + next() % (high - low + 1);
  }

 private:
  std::uint64_t state_;
};

// Expressions that match at some time; each field is a star, a number, a list or a range.
[[nodiscard]] std::vector<std::string> bench_expressions(std::size_t count);

// Instants in the years 2000 to 2037, to the second.
[[nodiscard]] std::vector<Instant> bench_instants(std::size_t count);

}  // namespace dutiful
