// Section E of the rules: names and messages. Those of cron are in cron/diagnosis_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/errors.h>
#include <dutiful/zone.h>

namespace dutiful {
namespace {

using testing::ContainsRegex;

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

// A value in a message is cut at 200 bytes, and whole in the details.
TEST(E, messages_do_not_grow_with_the_values_they_quote) {
  const std::string large(1'000'000, 'a');
  const InvalidRegistrationError registration{"name", large, "is too long"};
  const ScheduleDuplicateTaskError duplicate{large};
  const ScheduleTaskError unscheduled{large, "* * * * *", "no", nullptr};
  const StateHeldError held{large, "another"};
  const StoreError store{large, "is full"};
  const TraceError trace{large, "is full"};
  const TaskListMismatchError mismatch{large, "b" + large};
  const ZoneError zone{large, "it is not known"};
  for (const Error* error : std::initializer_list<const Error*>{
           &registration, &duplicate, &unscheduled, &held, &store, &trace, &mismatch, &zone}) {
    EXPECT_LT(std::string_view{error->what()}.size(), 700) << error->name();
    EXPECT_THAT(error->what(), ContainsRegex("…[\"']? \\(100000[01] bytes\\)")) << error->name();
  }
  EXPECT_TRUE(registration.value() == large);
  EXPECT_TRUE(duplicate.task_name() == large);
  EXPECT_TRUE(unscheduled.task_name() == large);
}

}  // namespace
}  // namespace dutiful
