#include "daemon/event_log.h"

#include <utility>
#include <variant>

#include <unistd.h>

#include "core/best_effort.h"

namespace dutiful {

EventLog::EventLog(Options options)
    : options_(std::move(options)),
      colour_(isatty(STDOUT_FILENO) != 0 ? Colour::ansi : Colour::none),
      log_(STDOUT_FILENO,
           [this](std::size_t count) {
             return line_of({.at = options_.now(),
                             .what = event::LogLinesDropped{static_cast<std::int64_t>(count)}});
           }),
      startup_([this](std::string line) { log_.write(std::move(line)); }) {}

void EventLog::add(const TypedEvent& event) {
  if (options_.observe) options_.observe(event);
  if (is_wanted(event) && !is_repeated(event)) startup_.add(event, line_of(event));
}

// Whether the same text appears on the same terminal, as the error with which the program exits.
bool EventLog::is_repeated(const TypedEvent& event) {
  return std::holds_alternative<event::SchedulerInitializationFailed>(event.what) &&
         options_.format == LogFormat::human && isatty(STDOUT_FILENO) != 0 &&
         isatty(STDERR_FILENO) != 0 && !startup_.is_released();
}

void EventLog::report(event::Any what) noexcept {
  best_effort([&] {
    const TypedEvent event{.at = options_.now(), .what = std::move(what)};
    if (options_.observe) options_.observe(event);
    if (is_wanted(event)) log_.write(line_of(event));
  });
}

void EventLog::add_output(const std::string& task, std::string_view line) {
  log_.write_output([&] {
    return line_of(
        {.at = options_.now(), .what = event::TaskOutput{.task = task, .text = std::string{line}}});
  });
}

std::string EventLog::line_of(const TypedEvent& event) const {
  return options_.format == LogFormat::json ? to_json(publish(event))
                                            : to_text(event, options_.zone, colour_);
}

}  // namespace dutiful
