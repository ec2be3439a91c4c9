// The daemon's log on standard output: events, as text for people or as JSON for programs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <dutiful/zone.h>

#include "daemon/event_text.h"
#include "daemon/log.h"
#include "daemon/log_format.h"
#include "daemon/startup_event_buffer.h"
#include "events/catalogue.h"

namespace dutiful {

// Safe to use from any thread.
class EventLog {
 public:
  struct Options {
    LogFormat format = LogFormat::json;
    bool verbose = false;  // also log DEBUG events
    Zone zone;
    std::function<Instant()> now{};
    // Gets every event, also those that are not logged; called by any thread.
    std::function<void(const TypedEvent&)> observe{};
  };
  explicit EventLog(Options options);

  // Logs an event of the scheduler. Until release_starts(), the first start and every event after
  // it wait, and people at a terminal are not told why the start failed: the program does so on
  // standard error.
  void add(const TypedEvent& event);
  void release_starts() { startup_.release(); }

  // Logs an event of the daemon itself, which happens now. It never waits. If memory runs out, the
  // line is lost.
  void report(event::Any what) noexcept;

  // Since the beginning.
  [[nodiscard]] std::size_t lines_lost() const noexcept { return log_.lost(); }

  // Logs a line of a command's output, unless too many are waiting already.
  void add_output(const std::string& task, std::string_view line);

 private:
  [[nodiscard]] std::string line_of(const TypedEvent& event) const;
  [[nodiscard]] bool is_wanted(const TypedEvent& event) const {
    return options_.verbose || level_of(event) != Level::debug;
  }

  [[nodiscard]] bool is_repeated(const TypedEvent& event);

  const Options options_;
  const Colour colour_;
  Log log_;
  StartupEventBuffer startup_;
};

}  // namespace dutiful
