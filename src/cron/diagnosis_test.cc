#include "cron/diagnosis.h"

#include <gtest/gtest.h>

#include "support/mend.h"

namespace dutiful {
namespace {

struct Row {
  const char* text;
  const char* field;
  const char* reason;
  const char* pointed_at;
};

// C3, C6: every kind of fault has its own reason, and an equivalent if there is one.
TEST(Diagnosis, names_the_field_the_reason_and_the_characters) {
  for (const Row& row : std::initializer_list<Row>{
           // The number of fields comes first.
           {"",
            "expression",
            "is empty; POSIX cron requires five fields: minute hour day month weekday",
            ""},
           {"*/5 * * *",
            "expression",
            "has 4 fields; POSIX cron requires five fields: minute hour day month weekday",
            "*/5 * * *"},
           {"0 0 12 * * ?",
            "expression",
            "has 6 fields; POSIX cron requires five fields: minute hour day month weekday; there "
            "are no seconds or years",
            "?"},
           {"*\n*\n*\n*\n*",
            "expression",
            "has 1 field; POSIX cron requires five fields: minute hour day month weekday; only "
            "spaces and tabs separate them",
            "*\n*\n*\n*\n*"},
           // Macros
           {"@daily",
            "expression",
            "has the macro \"@daily\"; POSIX cron has no macros; use 0 0 * * *",
            "@daily"},
           {" @Hourly ",
            "expression",
            "has the macro \"@Hourly\"; POSIX cron has no macros; use 0 * * * *",
            "@Hourly"},
           {"@reboot",
            "expression",
            "has the macro \"@reboot\"; POSIX cron has no macros",
            "@reboot"},
           {"@every 5m",
            "expression",
            "has the macro \"@every\"; POSIX cron has no macros",
            "@every 5m"},
           // Steps
           {"*/15 * * * *",
            "minute",
            "has the step \"*/15\"; POSIX cron has no steps; use 0,15,30,45",
            "*/15"},
           {"0 0 5,1-30/10 * *",
            "day",
            "has the step \"1-30/10\"; POSIX cron has no steps; use 1,5,11,21",
            "1-30/10"},
           {"*/1 * * * *", "minute", "has the step \"*/1\"; POSIX cron has no steps; use *", "*/1"},
           // 5/15 continues to the end of the hour in some programs and is just 5 in others.
           {"5/15 * * * *", "minute", "has the step \"5/15\"; POSIX cron has no steps", "5/15"},
           // Vixie cron would join these by "and".
           {"0 0 */10 * 1",
            "day",
            "has the step \"*/10\"; POSIX cron has no steps, and a day needs to match only one of "
            "day and weekday; use 1,11,21,31",
            "*/10"},
           {"*/0 * * * *", "minute", "has the step \"*/0\"; POSIX cron has no steps", "*/0"},
           {"*/x * * * *", "minute", "has the step \"*/x\"; POSIX cron has no steps", "*/x"},
           {"* * * * sun-sat/2",
            "weekday",
            "has the step \"sun-sat/2\"; POSIX cron has no steps; use 0,2,4,6",
            "sun-sat/2"},
           // Names
           {"0 0 * * mon-fri",
            "weekday",
            "has the name \"mon\"; POSIX cron has only numbers; use 1-5",
            "mon"},
           {"0 0 * JAN,july *",
            "month",
            "has the name \"JAN\"; POSIX cron has only numbers; use 1,7",
            "JAN"},
           {"0 0 * * fri-sun",
            "weekday",
            "has the name \"fri\"; POSIX cron has only numbers; use 0,5,6",
            "fri"},
           {"0 0 * mon *", "month", "has the word \"mon\"; POSIX cron has only numbers", "mon"},
           {"0 noon * * *", "hour", "has the word \"noon\"; POSIX cron has only numbers", "noon"},
           {"0 5pm * * *", "hour", "has \"5pm\"; POSIX cron has only numbers", "5pm"},
           // Weekday 7
           {"0 0 * * 7", "weekday", "has 7; use 0 for Sunday: 0", "7"},
           {"0 0 * * 5-7", "weekday", "has 7; use 0 for Sunday: 0,5,6", "7"},
           {"0 0 * * 1,07", "weekday", "has 07; use 0 for Sunday: 0,1", "07"},
           // If the other day field is restricted, a star means less than the full range (C4).
           {"0 0 13 * 0-7", "weekday", "has 7; use 0 for Sunday: 0-6", "7"},
           {"0 0 13 * sun-sat",
            "weekday",
            "has the name \"sun\"; POSIX cron has only numbers; use 0-6",
            "sun"},
           {"0 0 1-31/1 * 1",
            "day",
            "has the step \"1-31/1\"; POSIX cron has no steps; use 1-31",
            "1-31/1"},
           {"0 0 * * 8", "weekday", "has 8, which is out of range; use 0 to 6", "8"},
           // Quartz
           {"0 0 ? * 1",
            "day",
            "has \"?\", which is Quartz syntax; POSIX cron has no ? L W #; use *",
            "?"},
           {"0 0 ?,5 * 1",
            "day",
            "has \"?\", which is Quartz syntax; POSIX cron has no ? L W #",
            "?"},
           {"0 0 L * *",
            "day",
            "has \"L\", which is Quartz syntax; POSIX cron has no ? L W #",
            "L"},
           {"0 0 1,15W * *",
            "day",
            "has \"15W\", which is Quartz syntax; POSIX cron has no ? L W #",
            "15W"},
           {"0 0 * * 5#3",
            "weekday",
            "has \"5#3\", which is Quartz syntax; POSIX cron has no ? L W #",
            "5#3"},
           // Ranges
           {"50-10 * * * *",
            "minute",
            "has the range \"50-10\"; ranges do not wrap around; use 0-10,50-59",
            "50-10"},
           {"0 22-2,5 * * *",
            "hour",
            "has the range \"22-2\"; ranges do not wrap around; use 0-2,5,22,23",
            "22-2"},
           {"1- * * * *", "minute", "has the incomplete range \"1-\"; write both ends", "1-"},
           {"- * * * *", "minute", "has the incomplete range \"-\"; write both ends", "-"},
           {"1-2-3 * * * *", "minute", "has the range \"1-2-3\"; a range has two ends", "1-2-3"},
           {"60 * * * *", "minute", "has 60, which is out of range; use 0 to 59", "60"},
           {"* * 0 * *", "day", "has 0, which is out of range; use 1 to 31", "0"},
           {"* * 5-99999999999999999999 * *",
            "day",
            "has 99999999999999999999, which is out of range; use 1 to 31",
            "99999999999999999999"},
           // Numbers in other notations
           {"-5 * * * *", "minute", "has a sign in \"-5\"; numbers have no sign", "-5"},
           {"1-+5 * * * *", "minute", "has a sign in \"1-+5\"; numbers have no sign", "1-+5"},
           {"1--5 * * * *", "minute", "has a sign in \"1--5\"; numbers have no sign", "1--5"},
           {"1.5 * * * *", "minute", "has a decimal point in \"1.5\"; numbers are whole", "1.5"},
           {"0x1F * * * *", "minute", "has \"0x1F\"; numbers are decimal", "0x1F"},
           {"1e1 * * * *", "minute", "has an exponent in \"1e1\"; numbers are plain digits", "1e1"},
           // Lists
           {"1,,2 * * * *",
            "minute",
            "has an empty list element; write a number between the commas",
            ","},
           {"1, * * * *",
            "minute",
            "has an empty list element; write a number between the commas",
            ","},
           {", * * * *",
            "minute",
            "has an empty list element; write a number between the commas",
            ","},
           {"1,* * * * *",
            "minute",
            "has * next to other characters; write * alone or a list of numbers and ranges",
            "*"},
           // Other characters, whole
           {"* * * * *\n",
            "weekday",
            "has the character \"\\n\"; only spaces and tabs separate fields",
            "\n"},
           {"* 3; * * *",
            "hour",
            "has the character \";\"; only digits, commas, hyphens and * are allowed",
            ";"},
           {"* * * * ５",
            "weekday",
            "has the character \"５\"; only digits, commas, hyphens and * are allowed",
            "５"},
           // The first bad field is the one that is reported.
           {"* 24 32 13 7", "hour", "has 24, which is out of range; use 0 to 23", "24"},
       }) {
    const auto details = diagnose(row.text);
    EXPECT_EQ(details.expression, row.text);
    EXPECT_EQ(details.field, row.field) << row.text;
    EXPECT_EQ(details.reason, row.reason) << row.text;
    EXPECT_EQ(details.expression.substr(details.offset, details.length), row.pointed_at)
        << row.text;
  }
}

// E: the message's form, and the field's own error as the cause.
TEST(Diagnosis, becomes_an_error_with_details_and_a_cause) {
  try {
    (void)CronExpression::parse("0 0 * * mon");
    FAIL();
  } catch (const InvalidCronExpressionError& error) {
    EXPECT_EQ(error.name(), "InvalidCronExpressionError");
    EXPECT_STREQ(error.what(),
                 "Invalid cron expression \"0 0 * * mon\": weekday field has the name \"mon\"; "
                 "POSIX cron has only numbers; use 1");
    EXPECT_EQ(error.expression(), "0 0 * * mon");
    EXPECT_EQ(error.field(), "weekday");
    try {
      std::rethrow_exception(error.cause());
    } catch (const FieldParseError& cause) {
      EXPECT_EQ(cause.name(), "FieldParseError");
      EXPECT_EQ(cause.field_value(), "mon");
      EXPECT_EQ(cause.field_name(), "weekday");
      EXPECT_EQ(cause.what(), error.reason());
    }
  }
}

TEST(Diagnosis, names_no_field_if_their_number_is_wrong) {
  try {
    (void)CronExpression::parse("* * * *");
    FAIL();
  } catch (const InvalidCronExpressionError& error) {
    EXPECT_EQ(error.cause(), nullptr);
  }
}

TEST(Diagnosis, replaces_the_faulty_field) {
  EXPECT_EQ(mend(diagnose("7 0 * * 7")), "7 0 * * 0");
  EXPECT_EQ(mend(diagnose("@daily")), "0 0 * * *");
  EXPECT_EQ(mend(diagnose("60 * * * *")), "");
}

// X4: text from outside cannot forge a line.
TEST(Diagnosis, keeps_the_message_on_one_line) {
  try {
    (void)CronExpression::parse("1\ndutiful: all is well");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string{error.what()}.find('\n'), std::string::npos);
  }
}

// E: a message does not grow with the expression; the details are complete.
TEST(Diagnosis, cuts_long_values_in_messages_and_keeps_them_in_details) {
  const std::string ones(1'000'000, '1');
  const std::string zeros(1'000'000, '0');
  const std::string letters(1'000'000, 'x');
  for (const std::string& field : {ones,
                                   ones + '-',
                                   '-' + ones,
                                   ones + "-2",
                                   ones + "-2-3",
                                   zeros + "5-4",
                                   "*/" + ones,
                                   "1-30/" + zeros + '5',
                                   letters,
                                   letters + "-5",
                                   '1' + letters,
                                   "0x" + ones,
                                   ones + "e5",
                                   ones + ".5",
                                   '+' + ones,
                                   ones + '?',
                                   ones + '\x80',
                                   '1' + std::string(1'000'000, '\x80'),
                                   '*' + ones}) {
    const std::string text = field + " * * * *";
    SCOPED_TRACE(field.substr(0, 10));
    const InvalidCronExpressionError error{diagnose(text)};
    EXPECT_LT(std::string_view{error.what()}.size(), 2000);
    EXPECT_EQ(error.field(), "minute");
    EXPECT_TRUE(error.expression() == text);
    EXPECT_TRUE(error.details().field_value == field);
  }
  for (const std::string& text :
       {"* * * * " + zeros + '7', '@' + letters, letters, "* * " + ones}) {
    const InvalidCronExpressionError error{diagnose(text)};
    EXPECT_LT(std::string_view{error.what()}.size(), 2000);
    EXPECT_TRUE(error.expression() == text);
  }
}

}  // namespace
}  // namespace dutiful
