// The errors of the scheduler, under their names in the specification (RULES E).
//
// The errors of cron expressions and zones are in cron.h and zone.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dutiful/error.h>
#include <dutiful/export.h>
#include <dutiful/time.h>

namespace dutiful {

// Dynamic input, such as that of a binding, is not a list of registrations.
class DUTIFUL_EXPORT RegistrationsNotArrayError : public Error {
 public:
  RegistrationsNotArrayError() : Error("Registrations must be an array") {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return "RegistrationsNotArrayError";
  }
};

// A registration in dynamic input has the wrong number of values, or a value of the wrong type.
class DUTIFUL_EXPORT RegistrationShapeError : public Error {
 public:
  RegistrationShapeError(std::size_t registration_index, std::string received)
      : Error("Invalid registration shape: expected [string, string, function, Duration]"),
        registration_index_(registration_index),
        received_(std::move(received)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "RegistrationShapeError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] std::size_t registration_index() const noexcept { return registration_index_; }
  [[nodiscard]] const std::string& received() const noexcept { return received_; }

 private:
  std::size_t registration_index_;
  std::string received_;
};

// A value of a registration is invalid, such as an empty name or an empty callback. The field is
// `name`, `cronExpression`, `callback` or `timeLimit`. The value is a text: `null` for an empty
// callback, milliseconds for a time limit.
class DUTIFUL_EXPORT InvalidRegistrationError : public Error {
 public:
  // The message of the first shows the value, that of the second the task's name.
  InvalidRegistrationError(std::string field, std::string value, std::string reason);
  InvalidRegistrationError(std::string_view task_name,
                           std::string field,
                           std::string value,
                           std::string reason);
  [[nodiscard]] std::string_view name() const noexcept override {
    return "InvalidRegistrationError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string field_;
  std::string value_;
  std::string reason_;
};

// A list contains a name twice.
class DUTIFUL_EXPORT ScheduleDuplicateTaskError : public Error {
 public:
  explicit ScheduleDuplicateTaskError(std::string task_name);
  [[nodiscard]] std::string_view name() const noexcept override {
    return "ScheduleDuplicateTaskError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& task_name() const noexcept { return task_name_; }

 private:
  std::string task_name_;
};

// A list contains an expression that is not POSIX cron. The cause is an InvalidCronExpressionError.
class DUTIFUL_EXPORT CronExpressionInvalidError : public Error {
 public:
  CronExpressionInvalidError(const std::string& message,
                             std::string expression,
                             std::string field,
                             std::string reason,
                             std::exception_ptr cause)
      : Error(message, std::move(cause)),
        expression_(std::move(expression)),
        field_(std::move(field)),
        reason_(std::move(reason)) {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return "CronExpressionInvalidError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& expression() const noexcept { return expression_; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string expression_;
  std::string field_;
  std::string reason_;
};

class DUTIFUL_EXPORT NegativeRetryDelayError : public Error {
 public:
  explicit NegativeRetryDelayError(Duration retry_delay)
      : Error("Retry delay must be non-negative"), retry_delay_(retry_delay) {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return "NegativeRetryDelayError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] Duration retry_delay() const noexcept { return retry_delay_; }

 private:
  Duration retry_delay_;
};

// initialize() was called on a scheduler that is initializing, running or stopping (RULES I4).
class DUTIFUL_EXPORT SchedulerAlreadyActiveError : public Error {
 public:
  explicit SchedulerAlreadyActiveError(std::string current_state)
      : Error("Cannot initialize scheduler: scheduler is already " + current_state),
        current_state_(std::move(current_state)) {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return "SchedulerAlreadyActiveError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& current_state() const noexcept { return current_state_; }

 private:
  std::string current_state_;
};

// Another live scheduler holds the state (RULES P6). Nothing was changed.
class DUTIFUL_EXPORT StateHeldError : public Error {
 public:
  StateHeldError(std::string state, std::string holder);
  [[nodiscard]] std::string_view name() const noexcept override { return "StateHeldError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& state() const noexcept { return state_; }
  [[nodiscard]] const std::string& holder() const noexcept { return holder_; }

 private:
  std::string state_;
  std::string holder_;
};

// The state cannot be read or written: the disk is full, the file is damaged or not a state, the
// directory is missing. Nothing was changed, unless the error is in doubt.
class DUTIFUL_EXPORT StoreError : public Error {
 public:
  StoreError(std::string state, std::string reason, std::exception_ptr cause = nullptr);
  [[nodiscard]] std::string_view name() const noexcept override { return "StoreError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  // Whether the change may have happened nevertheless. This is not known until the state is opened
  // again. To repeat the call is right in both cases. If so, fields() has "inDoubt", which is 1.
  [[nodiscard]] virtual bool in_doubt() const noexcept { return false; }
  [[nodiscard]] const std::string& state() const noexcept { return state_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string state_;
  std::string reason_;
};

// The host cannot start a thread for the scheduler. Nothing was changed.
class DUTIFUL_EXPORT ThreadError : public Error {
 public:
  explicit ThreadError(std::exception_ptr cause)
      : Error(
            "Cannot initialize scheduler: no thread can be started; end other programs, or raise "
            "the limit on threads",
            std::move(cause)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "ThreadError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
};

// The clock shows a time outside the years 1 to 9999. Nothing was changed.
class DUTIFUL_EXPORT ClockError : public Error {
 public:
  explicit ClockError(Instant current_time);
  [[nodiscard]] std::string_view name() const noexcept override { return "ClockError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] Instant current_time() const noexcept { return current_time_; }

 private:
  Instant current_time_;
};

// The trace cannot be written, is in use by another scheduler, or is not a trace. Nothing was
// changed.
class DUTIFUL_EXPORT TraceError : public Error {
 public:
  TraceError(std::string file, std::string reason, std::exception_ptr cause = nullptr);
  [[nodiscard]] std::string_view name() const noexcept override { return "TraceError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string file_;
  std::string reason_;
};

// A task of a list could not be scheduled, so none was (RULES P4). Nothing was changed.
class DUTIFUL_EXPORT ScheduleTaskError : public Error {
 public:
  ScheduleTaskError(std::string task_name,
                    std::string cron_expression,
                    std::string reason,
                    std::exception_ptr cause);
  [[nodiscard]] std::string_view name() const noexcept override { return "ScheduleTaskError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& task_name() const noexcept { return task_name_; }
  [[nodiscard]] const std::string& cron_expression() const noexcept { return cron_expression_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string task_name_;
  std::string cron_expression_;
  std::string reason_;  // the message of the cause
};

// initialize(), or the constructor of a scheduler, failed for a reason outside it, such as
// Options::prepare or the host. Nothing was changed.
class DUTIFUL_EXPORT InitializeSchedulerError : public Error {
 public:
  InitializeSchedulerError(std::string reason, std::exception_ptr cause)
      : Error("Failed to initialize scheduler: " + reason, std::move(cause)),
        reason_(std::move(reason)) {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return "InitializeSchedulerError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;  // the message of the cause
};

// stop() failed (RULES I5).
class DUTIFUL_EXPORT StopSchedulerError : public Error {
 public:
  StopSchedulerError(std::string reason, std::exception_ptr cause)
      : Error("Failed to stop scheduler: " + reason, std::move(cause)),
        reason_(std::move(reason)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "StopSchedulerError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;  // the message of the cause, if there is one
};

// A persisted record is damaged (RULES P7). It is left as it is. The message ends with the task's
// name, unless the name is what is damaged.
class DUTIFUL_EXPORT TaskTryDeserializeError : public Error {
 public:
  [[nodiscard]] std::string_view name() const noexcept override {
    return "TaskTryDeserializeError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  [[nodiscard]] const std::string& expected_type() const noexcept { return expected_type_; }
  [[nodiscard]] const std::string& task_name() const noexcept { return task_name_; }

 protected:
  TaskTryDeserializeError(const std::string& message,
                          std::string field,
                          std::string value,
                          std::string expected_type,
                          std::string task_name);

  // The given fields, and the task's name if it is known.
  [[nodiscard]] std::vector<ErrorField> with_task(std::vector<ErrorField> fields) const;

 private:
  std::string field_;
  std::string value_;
  std::string expected_type_;
  std::string task_name_;
};

class DUTIFUL_EXPORT TaskMissingFieldError : public TaskTryDeserializeError {
 public:
  explicit TaskMissingFieldError(const std::string& field, std::string task_name = {})
      : TaskTryDeserializeError(
            "Missing required field: " + field, field, "", "", std::move(task_name)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "TaskMissingFieldError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
};

class DUTIFUL_EXPORT TaskInvalidTypeError : public TaskTryDeserializeError {
 public:
  TaskInvalidTypeError(const std::string& field,
                       std::string value,
                       const std::string& expected_type,
                       std::string actual_type,
                       std::string task_name = {})
      : TaskTryDeserializeError("Invalid type for field '" + field + "': expected " +
                                    expected_type + ", got " + actual_type,
                                field,
                                std::move(value),
                                expected_type,
                                std::move(task_name)),
        actual_type_(std::move(actual_type)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "TaskInvalidTypeError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& actual_type() const noexcept { return actual_type_; }

 private:
  std::string actual_type_;
};

class DUTIFUL_EXPORT TaskInvalidValueError : public TaskTryDeserializeError {
 public:
  TaskInvalidValueError(const std::string& field,
                        std::string value,
                        std::string reason,
                        std::string task_name = {})
      : TaskTryDeserializeError("Invalid value for field '" + field + "': " + reason,
                                field,
                                std::move(value),
                                "",
                                std::move(task_name)),
        reason_(std::move(reason)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "TaskInvalidValueError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

class DUTIFUL_EXPORT TaskInvalidStructureError : public TaskTryDeserializeError {
 public:
  TaskInvalidStructureError(const std::string& message,
                            std::string value,
                            std::string task_name = {})
      : TaskTryDeserializeError(message, "", std::move(value), "", std::move(task_name)) {}
  [[nodiscard]] std::string_view name() const noexcept override {
    return "TaskInvalidStructureError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
};

// The persisted list is not the one that this scheduler runs. Either another scheduler has replaced
// it, or someone has deleted tasks; then `actual` equals `expected`, or is empty if no task is
// left.
class DUTIFUL_EXPORT TaskListMismatchError : public Error {
 public:
  TaskListMismatchError(std::string expected, std::string actual);
  [[nodiscard]] std::string_view name() const noexcept override { return "TaskListMismatchError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& expected() const noexcept { return expected_; }
  [[nodiscard]] const std::string& actual() const noexcept { return actual_; }

 private:
  std::string expected_;
  std::string actual_;
};

}  // namespace dutiful
