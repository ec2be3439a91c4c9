// Section E of the rules: names and messages. Those of cron are in cron/diagnosis_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/errors.h>
#include <dutiful/testing.h>
#include <dutiful/zone.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
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

std::string registration_error(const Registration& registration) {
  VirtualScheduler scheduler{Instant{}, {.zone = Zone::utc()}};
  try {
    scheduler.initialize({registration});
    return "no error";
  } catch (const InvalidRegistrationError& error) {
    return error.field() + ' ' + error.value() + ": " + error.what();
  }
}

TEST(E, says_what_is_wrong_with_a_registration) {
  void (*no_function)() = nullptr;
  EXPECT_EQ(registration_error({"a", "* * * * *", no_function, 0ms}),
            "callback null: Invalid registration: callback of task \"a\" is null; register "
            "something to call");
  EXPECT_EQ(registration_error({"a", "* * * * *", std::function<void()>{}, 0ms}),
            "callback null: Invalid registration: callback of task \"a\" is null; register "
            "something to call");
  EXPECT_EQ(registration_error({"a", "* * * * *", [] {}, 0ms, -5ms}),
            "timeLimit -5: Invalid registration: timeLimit of task \"a\" is -5 ms; it must not be "
            "negative, and 0 means no limit");
  EXPECT_EQ(registration_error({"", "* * * * *", [] {}, 0ms}),
            "name : Invalid registration: name \"\" is empty; every task needs one");
}

// seed-002, "dangerous expressions".
TEST(E, refuses_names_and_expressions_beyond_1024_bytes) {
  const std::string long_name(1025, 'a');
  EXPECT_EQ(registration_error({long_name.substr(1), "* * * * *", [] {}, 0ms}), "no error");
  EXPECT_EQ(registration_error({long_name, "* * * * *", [] {}, 0ms}),
            "name " + long_name + ": Invalid registration: name \"" + long_name.substr(0, 200) +
                "…\" (1025 bytes) is too long; it may have at most 1024 bytes");
  const std::string long_text = std::string(1016, '0') + " * * * *";
  EXPECT_EQ(registration_error({"a", long_text, [] {}, 0ms}), "no error");
  EXPECT_EQ(registration_error({"a", '0' + long_text, [] {}, 0ms}),
            "cronExpression 0" + long_text +
                ": Invalid registration: cronExpression of task \"a\" is too long: it has 1025 "
                "bytes, and may have at most 1024");
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
