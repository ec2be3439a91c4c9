// A page in the Prometheus text format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <dutiful/time.h>

#include "metrics/histogram.h"

namespace dutiful {

// Families one after the other, each with its samples. A label is given as label() returns it; the
// parts of a sample's labels are joined as they are.
class Page {
 public:
  using Labels = std::initializer_list<std::string_view>;

  enum class Type { counter, gauge, summary, histogram };

  // Begins a family. `help` is on one line and contains no backslash.
  void family(std::string_view name, Type type, std::string_view help);

  // Samples of the family. Durations are in seconds; an instant is in seconds since 1970.
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, Duration value);
  void sample(Labels labels, Instant value) { sample(labels, value.time_since_epoch()); }
  void infinite_sample(Labels labels);
  void sample(Labels labels, const DurationSum& value);

  // The histogram's label `le` is added.
  template <std::size_t size>
  void sample(const Histogram<size>& histogram, const std::array<Duration, size>& bounds) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < size; ++i) bucket(bounds[i], count += histogram.buckets[i]);
    last_bucket(count + histogram.buckets[size]);
    sample({}, histogram.total);
  }

  void reserve(std::size_t size) { text_.reserve(size); }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void begin_sample(std::string_view suffix, Labels labels);
  void end_sample() { text_.push_back('\n'); }
  void append(std::uint64_t value);
  void append(Duration value);
  void bucket(Duration bound, std::uint64_t count);
  void last_bucket(std::uint64_t count);

  std::string text_;
  std::string_view name_;  // of the family
};

}  // namespace dutiful
