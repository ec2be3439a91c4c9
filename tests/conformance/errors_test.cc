// Section E of the rules: names and messages. Those of cron are in cron/diagnosis_test.cc.

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/cron.h>
#include <dutiful/errors.h>
#include <dutiful/testing.h>
#include <dutiful/zone.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;

// "field=name value=7": the details as a binding reads them.
std::string details_of(const Error& error) {
  std::string text;
  for (const ErrorField& field : error.fields()) {
    text.append(text.empty() ? "" : " ").append(field.name).append("=");
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      text += std::to_string(*number);
    } else {
      text += '"' + std::get<std::string>(field.value) + '"';
    }
  }
  return text;
}

// "NegativeRetryDelayError retryDelayMs=-1": the error thrown, with its details.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
    return "no error";
  } catch (const Error& error) {
    return std::string{error.name()} + ' ' + details_of(error);
  }
}

class StoreErrorInDoubt : public StoreError {
 public:
  using StoreError::StoreError;
  [[nodiscard]] bool in_doubt() const noexcept override { return true; }
};

TEST(E, has_the_names_messages_and_details_of_the_table) {
  const auto cause = std::make_exception_ptr(std::runtime_error{"disk full"});
  struct Row {
    const Error& error;
    const char* name;
    const char* message;
    const char* details;
  };
  for (const Row& row : std::initializer_list<Row>{
           {RegistrationsNotArrayError{},
            "RegistrationsNotArrayError",
            "Registrations must be an array",
            ""},
           {RegistrationShapeError{3, "[]"},
            "RegistrationShapeError",
            "Invalid registration shape: expected [string, string, function, Duration]",
            R"(registrationIndex=3 received="[]")"},
           {InvalidRegistrationError{"name", "", "is empty"},
            "InvalidRegistrationError",
            "Invalid registration: name \"\" is empty",
            R"(field="name" value="" reason="is empty")"},
           {InvalidRegistrationError{"a", "callback", "null", "is null"},
            "InvalidRegistrationError",
            "Invalid registration: callback of task \"a\" is null",
            R"(field="callback" value="null" reason="is null")"},
           {ScheduleDuplicateTaskError{"a"},
            "ScheduleDuplicateTaskError",
            "Task with name \"a\" is already scheduled",
            R"(taskName="a")"},
           {SchedulerAlreadyActiveError{"running"},
            "SchedulerAlreadyActiveError",
            "Cannot initialize scheduler: scheduler is already running",
            R"(currentState="running")"},
           {CronExpressionInvalidError{"Invalid cron expression \"x\": minute field is bad",
                                       "x",
                                       "minute",
                                       "is bad",
                                       cause},
            "CronExpressionInvalidError",
            "Invalid cron expression \"x\": minute field is bad",
            R"(expression="x" field="minute" reason="is bad")"},
           {InvalidCronExpressionError{{.expression = "x",
           .field = "minute",
           .field_value = "x",
           .reason = "is bad",
           .equivalent = ""}},
            "InvalidCronExpressionError",
            "Invalid cron expression \"x\": minute field is bad",
            R"(expression="x" field="minute" reason="is bad")"},
           {FieldParseError{"x", "minute", "is bad"},
            "FieldParseError",
            "is bad",
            R"(fieldValue="x" fieldName="minute")"},
           {NegativeRetryDelayError{Duration{-1}},
            "NegativeRetryDelayError",
            "Retry delay must be non-negative",
            "retryDelayMs=-1"},
           {CronCalculationError{"0 0 30 2 *", "2025-03-03T10:00", "there is none"},
            "CronCalculationError",
            "Failed to calculate next occurrence: there is none",
            R"(expression="0 0 30 2 *" currentTime="2025-03-03T10:00" cause="there is none")"},
           {ScheduleTaskError{"a", "* * * * *", "disk full", cause},
            "ScheduleTaskError",
            "Failed to schedule task 'a': disk full",
            R"(name="a" cronExpression="* * * * *" cause="disk full")"},
           {InitializeSchedulerError{"disk full", cause},
            "InitializeSchedulerError",
            "Failed to initialize scheduler: disk full",
            R"(cause="disk full")"},
           {StopSchedulerError{"disk full", cause},
            "StopSchedulerError",
            "Failed to stop scheduler: disk full",
            R"(cause="disk full")"},
           {ClockError{Instant::max()},
            "ClockError",
            "The clock shows 9223372036854775807 ms since 1970-01-01, which is outside the years 1 "
            "to 9999; set the clock",
            "currentTimeMs=9223372036854775807"},
           {TaskMissingFieldError{"state"},
            "TaskMissingFieldError",
            "Missing required field: state",
            R"(field="state")"},
           {TaskInvalidTypeError{"state", "x", "integer", "text"},
            "TaskInvalidTypeError",
            "Invalid type for field 'state': expected integer, got text",
            R"(field="state" value="x" expectedType="integer" actualType="text")"},
           {TaskInvalidValueError{"state", "7", "no"},
            "TaskInvalidValueError",
            "Invalid value for field 'state': no",
            R"(field="state" value="7" reason="no")"},
           {TaskInvalidStructureError{"The record is incomplete", "a"},
            "TaskInvalidStructureError",
            "The record is incomplete",
            R"(value="a")"},
           // With the task, if it is known.
           {TaskMissingFieldError{"state", "a"},
            "TaskMissingFieldError",
            "Missing required field: state (task \"a\")",
            R"(field="state" taskName="a")"},
           {TaskInvalidTypeError{"state", "x", "integer", "text", "a"},
            "TaskInvalidTypeError",
            "Invalid type for field 'state': expected integer, got text (task \"a\")",
            R"(field="state" value="x" expectedType="integer" actualType="text" taskName="a")"},
           {TaskInvalidValueError{"state", "7", "no", "a"},
            "TaskInvalidValueError",
            "Invalid value for field 'state': no (task \"a\")",
            R"(field="state" value="7" reason="no" taskName="a")"},
           {TaskInvalidStructureError{"The record is incomplete", "a", "a"},
            "TaskInvalidStructureError",
            "The record is incomplete (task \"a\")",
            R"(value="a" taskName="a")"},
           {TaskListMismatchError{"ours", "theirs"},
            "TaskListMismatchError",
            "The persisted tasks belong to scheduler theirs, not to ours, which is running; "
            "another "
            "scheduler replaced them",
            R"(expected="ours" actual="theirs")"},
           // Errors that are not in the table.
           {StateHeldError{"jobs.db", "process 7"},
            "StateHeldError",
            "The state \"jobs.db\" is in use by process 7; stop that scheduler first, or use "
            "another state",
            R"(state="jobs.db" holder="process 7")"},
           {StoreErrorInDoubt{"jobs.db", "is full"},
            "StoreError",
            "The state \"jobs.db\" is full",
            R"(state="jobs.db" reason="is full" inDoubt=1)"},
           {VirtualTimeError{"a"},
            "VirtualTimeError",
            "Virtual time stands still: task \"a\" fails and is retried at once, forever; give it "
            "a "
            "retry delay",
            R"(taskName="a")"},
           {StoreError{"jobs.db", "is full"},
            "StoreError",
            "The state \"jobs.db\" is full",
            R"(state="jobs.db" reason="is full")"},
           {TraceError{"jobs.trace", "is full"},
            "TraceError",
            "The trace \"jobs.trace\" is full",
            R"(file="jobs.trace" reason="is full")"},
           {ThreadError{cause},
            "ThreadError",
            "Cannot initialize scheduler: no thread can be started; end other programs, or raise "
            "the limit on threads",
            R"(cause="disk full")"},
           {ZoneError{"Mars", "there is no such zone"},
            "ZoneError",
            "Cannot load time zone \"Mars\": there is no such zone",
            R"(zone="Mars" reason="there is no such zone")"},
       }) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.error.name(), row.name);
    EXPECT_STREQ(row.error.what(), row.message);
    EXPECT_EQ(details_of(row.error), row.details);
  }
}

// If nothing was thrown, the cause is only its reason.
TEST(E, a_cause_need_not_be_an_exception) {
  const StopSchedulerError error{"it was called by a callback", nullptr};
  EXPECT_EQ(error.cause(), nullptr);
  EXPECT_EQ(details_of(error), R"(cause="it was called by a callback")");
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

// The errors of the table that initialize() throws.
TEST(E, errors_of_initialize_have_their_details) {
  struct Row {
    std::vector<Registration> list;
    const char* error;
  };
  const Callback work{[] {}};
  const std::initializer_list<Row> rows{
      {{{"", "* * * * *", work, 0ms}},
       R"(InvalidRegistrationError field="name" value="" reason="is empty; every task needs one")"},
      {{{"a", "* * * * *", Callback{}, 0ms}},
       R"(InvalidRegistrationError field="callback" value="null" )"
       R"(reason="is null; register something to call")"},
      {{{"a", "* * * * *", work, 0ms}, {"a", "* * * * *", work, 0ms}},
       R"(ScheduleDuplicateTaskError taskName="a")"},
      {{{"a", "*/1 * * * *", work, 0ms}},
       R"(CronExpressionInvalidError expression="*/1 * * * *" field="minute" )"
       R"(reason="has the step "*/1"; POSIX cron has no steps; use *")"},
      {{{"a", "* * * * *", work, -90s}}, "NegativeRetryDelayError retryDelayMs=-90000"}};
  for (const Row& row : rows) {
    VirtualScheduler scheduler{Instant{}, {.zone = Zone::utc()}};
    EXPECT_EQ(error_of([&] { scheduler.initialize(row.list); }), row.error);
  }
  VirtualScheduler scheduler{Instant{}, {.zone = Zone::utc()}};
  scheduler.initialize({});
  EXPECT_EQ(error_of([&] { scheduler.initialize({}); }),
            R"(SchedulerAlreadyActiveError currentState="running")");
}

// Any exception from inside becomes an Error with that exception as its cause.
TEST(E, foreign_exceptions_are_wrapped) {
  Options options{.zone = Zone::utc(), .prepare = [] { throw std::runtime_error{"not yet"}; }};
  VirtualScheduler fails{Instant{}, options};
  EXPECT_EQ(error_of([&] { fails.initialize({}); }), R"(InitializeSchedulerError cause="not yet")");
  try {
    fails.initialize({});
  } catch (const Error& error) {
    ASSERT_NE(error.cause(), nullptr);
    EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
  }
  options.prepare = [] { throw 1; };
  Scheduler unknown{options};
  EXPECT_EQ(error_of([&] { unknown.initialize({}); }),
            R"(InitializeSchedulerError cause="unknown error")");
}

TEST(E, reports_what_is_wrong_with_a_registration) {
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
TEST(E, rejects_names_and_expressions_longer_than_1024_bytes) {
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

// A value is cut at 200 bytes in a message, and complete in the details.
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
