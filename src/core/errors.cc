#include <dutiful/errors.h>

#include "core/message_of.h"
#include "text/quote.h"

namespace dutiful {
InvalidRegistrationError::InvalidRegistrationError(std::string field,
                                                   std::string value,
                                                   std::string reason)
    : Error("Invalid registration: " + field + " " + quote(value) + " " + reason),
      field_(std::move(field)),
      value_(std::move(value)),
      reason_(std::move(reason)) {}

InvalidRegistrationError::InvalidRegistrationError(std::string_view task_name,
                                                   std::string field,
                                                   std::string value,
                                                   std::string reason)
    : Error("Invalid registration: " + field + " of task " + quote(task_name) + " " + reason),
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

StoreError::StoreError(std::string state, std::string reason, std::exception_ptr cause)
    : Error("The state " + quote(state) + " " + reason, std::move(cause)),
      state_(std::move(state)),
      reason_(std::move(reason)) {}

// In milliseconds, because ISO 8601 cannot express the instant.
ClockError::ClockError(Instant current_time)
    : Error("The clock shows " + std::to_string(current_time.time_since_epoch().count()) +
            " ms since 1970-01-01, which is outside the years 1 to 9999; set the clock"),
      current_time_(current_time) {}

TraceError::TraceError(std::string file, std::string reason, std::exception_ptr cause)
    : Error("The trace " + quote(file) + " " + reason, std::move(cause)),
      file_(std::move(file)),
      reason_(std::move(reason)) {}

ScheduleTaskError::ScheduleTaskError(std::string task_name,
                                     std::string cron_expression,
                                     std::string reason,
                                     std::exception_ptr cause)
    : Error("Failed to schedule task " + quote(task_name, '\'') + ": " + reason, std::move(cause)),
      task_name_(std::move(task_name)),
      cron_expression_(std::move(cron_expression)),
      reason_(std::move(reason)) {}

TaskTryDeserializeError::TaskTryDeserializeError(const std::string& message,
                                                 std::string field,
                                                 std::string value,
                                                 std::string expected_type,
                                                 std::string task_name)
    : Error(task_name.empty() ? message : message + " (task " + quote(task_name) + ")"),
      field_(std::move(field)),
      value_(std::move(value)),
      expected_type_(std::move(expected_type)),
      task_name_(std::move(task_name)) {}

TaskListMismatchError::TaskListMismatchError(std::string expected, std::string actual)
    : Error(actual == expected || actual.empty()
                ? "A task of scheduler " + show(expected) +
                      " was deleted from the state while the scheduler was running; stop the "
                      "scheduler and initialize it again"
                : "The persisted tasks belong to scheduler " + show(actual) + ", not to " +
                      show(expected) + ", which is running; another scheduler replaced them"),
      expected_(std::move(expected)),
      actual_(std::move(actual)) {}

// The details, by the names of the specification (RULES E).

std::vector<ErrorField> RegistrationShapeError::fields() const {
  return {{"registrationIndex", static_cast<std::int64_t>(registration_index_)},
          {"received", received_}};
}

std::vector<ErrorField> InvalidRegistrationError::fields() const {
  return {{"field", field_}, {"value", value_}, {"reason", reason_}};
}

std::vector<ErrorField> ScheduleDuplicateTaskError::fields() const {
  return {{"taskName", task_name_}};
}

std::vector<ErrorField> CronExpressionInvalidError::fields() const {
  return {{"expression", expression_}, {"field", field_}, {"reason", reason_}};
}

std::vector<ErrorField> NegativeRetryDelayError::fields() const {
  return {{"retryDelayMs", retry_delay_.count()}};
}

std::vector<ErrorField> SchedulerAlreadyActiveError::fields() const {
  return {{"currentState", current_state_}};
}

std::vector<ErrorField> StateHeldError::fields() const {
  return {{"state", state_}, {"holder", holder_}};
}

std::vector<ErrorField> StoreError::fields() const {
  std::vector<ErrorField> fields{{"state", state_}, {"reason", reason_}};
  if (in_doubt()) fields.emplace_back("inDoubt", std::int64_t{1});
  return fields;
}

std::vector<ErrorField> ClockError::fields() const {
  return {{"currentTimeMs", std::int64_t{current_time_.time_since_epoch().count()}}};
}

std::vector<ErrorField> ThreadError::fields() const {
  return {{"cause", message_of(cause())}};
}

std::vector<ErrorField> TraceError::fields() const {
  return {{"file", file_}, {"reason", reason_}};
}

std::vector<ErrorField> ScheduleTaskError::fields() const {
  return {{"name", task_name_}, {"cronExpression", cron_expression_}, {"cause", reason_}};
}

std::vector<ErrorField> InitializeSchedulerError::fields() const {
  return {{"cause", reason_}};
}

std::vector<ErrorField> StopSchedulerError::fields() const {
  return {{"cause", reason_}};
}

std::vector<ErrorField> TaskTryDeserializeError::fields() const {
  return with_task({{"field", field_}, {"value", value_}, {"expectedType", expected_type_}});
}

std::vector<ErrorField> TaskTryDeserializeError::with_task(std::vector<ErrorField> fields) const {
  if (!task_name_.empty()) fields.emplace_back("taskName", task_name_);
  return fields;
}

std::vector<ErrorField> TaskMissingFieldError::fields() const {
  return with_task({{"field", field()}});
}

std::vector<ErrorField> TaskInvalidTypeError::fields() const {
  return with_task({{"field", field()},
                    {"value", value()},
                    {"expectedType", expected_type()},
                    {"actualType", actual_type_}});
}

std::vector<ErrorField> TaskInvalidValueError::fields() const {
  return with_task({{"field", field()}, {"value", value()}, {"reason", reason_}});
}

std::vector<ErrorField> TaskInvalidStructureError::fields() const {
  return with_task({{"value", value()}});
}

std::vector<ErrorField> TaskListMismatchError::fields() const {
  return {{"expected", expected_}, {"actual", actual_}};
}

}  // namespace dutiful
