// A run as a timeline shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dutiful/time.h>

namespace dutiful {

// One run, or several neighbours with the same result.
struct RunSpan {
  enum class Result : char { succeeded = 's', failed = 'f', interrupted = 'i', running = 'r' };

  Instant from{};
  Instant until{};  // of an interrupted run: its start, because its end is unknown
  Result result = Result::succeeded;
  std::int64_t count = 1;

  friend bool operator==(const RunSpan&, const RunSpan&) = default;
};

// Which runs: those that overlap [from, until), of each task.
struct SpanQuery {
  std::vector<std::string> tasks{};
  Instant from{};
  Instant until{};
  std::size_t limit = 5000;  // of each task, the newest
};

}  // namespace dutiful
