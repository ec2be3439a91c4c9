#include <dutiful/errors.h>

#include "text/quote.h"

namespace dutiful {
namespace {

// Escaped like quote(), without the quotes.
std::string bare(std::string_view text) {
  const std::string quoted = quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

InvalidRegistrationError::InvalidRegistrationError(std::string field,
                                                   std::string value,
                                                   std::string reason)
    : Error("Invalid registration: " + field + " " + quote(value) + " " + reason),
      field_(std::move(field)),
      value_(std::move(value)),
      reason_(std::move(reason)) {}

ScheduleDuplicateTaskError::ScheduleDuplicateTaskError(std::string task_name)
    : Error("Task with name " + quote(task_name) + " is already scheduled"),
      task_name_(std::move(task_name)) {}

StateHeldError::StateHeldError(std::string state, std::string holder)
    : Error("The state " + quote(state) + " is in use by " + holder +
            "; stop that scheduler first, or use another state"),
      state_(std::move(state)),
      holder_(std::move(holder)) {}

StoreError::StoreError(std::string state, const std::string& reason)
    : Error("The state " + quote(state) + " " + reason), state_(std::move(state)) {}

// In milliseconds, for ISO 8601 has no words for it.
ClockError::ClockError(Instant current_time)
    : Error("The clock shows " + std::to_string(current_time.time_since_epoch().count()) +
            " ms since 1970-01-01, which is outside the years 1 to 9999; set the clock"),
      current_time_(current_time) {}

TraceError::TraceError(std::string file, const std::string& reason)
    : Error("The trace " + quote(file) + " " + reason), file_(std::move(file)) {}

ScheduleTaskError::ScheduleTaskError(std::string task_name,
                                     std::string cron_expression,
                                     const std::string& reason,
                                     std::exception_ptr cause)
    : Error("Failed to schedule task '" + bare(task_name) + "': " + reason, std::move(cause)),
      task_name_(std::move(task_name)),
      cron_expression_(std::move(cron_expression)) {}

TaskListMismatchError::TaskListMismatchError(std::string expected, std::string actual)
    : Error(actual == expected || actual.empty()
                ? "A task of scheduler " + expected +
                      ", which runs, is gone from the state: somebody has deleted it; stop the "
                      "scheduler and initialize it again"
                : "The persisted tasks belong to scheduler " + actual + ", not to " + expected +
                      ", which runs; another scheduler has replaced them"),
      expected_(std::move(expected)),
      actual_(std::move(actual)) {}

}  // namespace dutiful
