// Section E of the rules: names and messages. Those of cron are in cron/diagnosis_test.cc.

#include <gtest/gtest.h>

#include <dutiful/errors.h>

namespace dutiful {
namespace {

TEST(E, has_the_names_and_messages_of_the_table) {
  struct Row {
    const Error& error;
    const char* name;
    const char* message;
  };
  for (const Row& row : std::initializer_list<Row>{
           {RegistrationsNotArrayError{},
            "RegistrationsNotArrayError",
            "Registrations must be an array"},
           {RegistrationShapeError{3, "[]"},
            "RegistrationShapeError",
            "Invalid registration shape: expected [string, string, function, Duration]"},
           {ScheduleDuplicateTaskError{"a"},
            "ScheduleDuplicateTaskError",
            "Task with name \"a\" is already scheduled"},
           {SchedulerAlreadyActiveError{"running"},
            "SchedulerAlreadyActiveError",
            "Cannot initialize scheduler: scheduler is already running"},
           {NegativeRetryDelayError{Duration{-1}},
            "NegativeRetryDelayError",
            "Retry delay must be non-negative"},
           {ScheduleTaskError{"a", "* * * * *", "no", nullptr},
            "ScheduleTaskError",
            "Failed to schedule task 'a': no"},
           {StopSchedulerError{"no", nullptr},
            "StopSchedulerError",
            "Failed to stop scheduler: no"},
           {ClockError{Instant::max()},
            "ClockError",
            "The clock shows 9223372036854775807 ms since 1970-01-01, which is outside the years 1 "
            "to 9999; set the clock"},
           {TaskMissingFieldError{"state"},
            "TaskMissingFieldError",
            "Missing required field: state"},
           {TaskInvalidTypeError{"state", "x", "integer", "text"},
            "TaskInvalidTypeError",
            "Invalid type for field 'state': expected integer, got text"},
           {TaskInvalidValueError{"state", "7", "no"},
            "TaskInvalidValueError",
            "Invalid value for field 'state': no"},
       }) {
    EXPECT_EQ(row.error.name(), row.name);
    EXPECT_STREQ(row.error.what(), row.message);
  }
}

TEST(E, errors_cannot_forge_a_line) {
  EXPECT_EQ(std::string{ScheduleDuplicateTaskError{"a\nb"}.what()}.find('\n'), std::string::npos);
  const ScheduleTaskError error{"a\nb", "* * * * *", "no", nullptr};
  EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace dutiful
