// A trace as text: JSON Lines, first a header and then an event on each line.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <dutiful/policies.h>

#include "trace/event.h"

namespace dutiful {

// Settings of the whole trace. Absent ones have their defaults.
struct TraceHeader {
  std::string zone;
  std::optional<RepeatedMinutes> repeated_minutes{};
  std::optional<Reinitialize> reinitialize{};
  std::optional<Override> override{};
  std::size_t max_concurrent = 0;  // 0: no limit
};

// The lines, without their newlines.
[[nodiscard]] std::string to_line(const TraceHeader& header);
[[nodiscard]] std::string to_line(Instant at,
                                  const TraceEvent& event,
                                  std::string_view member = {});

// The list as a trace contains it: [["a","* * * * *",300000],…].
[[nodiscard]] std::string to_json(const std::vector<TracedRegistration>& registrations);

// The policies by their names in headers and scenarios; nothing if there is no such policy.
[[nodiscard]] std::optional<RepeatedMinutes> repeated_minutes_of(std::string_view name);
[[nodiscard]] std::optional<Reinitialize> reinitialize_of(std::string_view name);
[[nodiscard]] std::optional<Override> override_of(std::string_view name);
[[nodiscard]] std::string_view name_of(RepeatedMinutes policy);
[[nodiscard]] std::string_view name_of(Reinitialize policy);
[[nodiscard]] std::string_view name_of(Override policy);

class MalformedTrace : public std::runtime_error {
 public:
  MalformedTrace(std::size_t line, const std::string& reason)
      : std::runtime_error(reason), line_(line) {}
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

 private:
  std::size_t line_;  // from 1, the header included
};

// Reads a trace of any length line by line.
class TraceReader {
 public:
  // Reads the header. The stream must outlive the reader. Throws MalformedTrace.
  explicit TraceReader(std::istream& in);

  [[nodiscard]] const TraceHeader& header() const { return header_; }

  // Reads the next event; returns false at the end. Throws MalformedTrace.
  bool read(TracedEvent& event);

  // The number of the line read last.
  [[nodiscard]] std::size_t line() const { return line_; }

 private:
  std::istream& in_;
  TraceHeader header_;
  std::string text_;
  std::size_t line_ = 0;
  Instant latest_ = Instant::min();
};

}  // namespace dutiful
