// What this process uses, for the metrics that every exporter has.
#pragma once

#include <cstdint>
#include <optional>

#include <dutiful/time.h>

namespace dutiful {

// None: the system does not say.
struct ProcessUsage {
  std::optional<Instant> started{};
  std::optional<Duration> cpu{};                   // by all threads, in user and system mode
  std::optional<std::uint64_t> resident_memory{};  // in bytes, as is the next one
  std::optional<std::uint64_t> virtual_memory{};
  std::optional<std::uint64_t> open_descriptors{};
  std::optional<std::uint64_t> descriptors_max{};
  std::optional<std::uint64_t> threads{};
};

// Reads it from the system. If memory or descriptors run out, values are missing.
[[nodiscard]] ProcessUsage read_process_usage() noexcept;

}  // namespace dutiful
