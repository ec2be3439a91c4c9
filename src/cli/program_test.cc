#include "cli/program.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program_in_test.h"
#include "support/temporary_directory.h"
#include "support/times.h"
#include "support/with_variable.h"

namespace dutiful {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Program, next_prints_one_instant_a_line) {
  const auto result =
      dutiful({"next", "15 3 * * 1-5", "--zone", "America/New_York", "--count", "2"});
  EXPECT_EQ(result.out, "2025-06-02T03:15:00-04:00\n2025-06-03T03:15:00-04:00\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.status, 0);
}

TEST(Program, next_prints_one_occurrence_after_now_by_default) {
  EXPECT_EQ(dutiful({"next", "0 12 * * *"}).out, "2025-06-02T12:00:00+00:00\n");
  EXPECT_EQ(dutiful({"prev", "0 12 * * *"}).out, "2025-06-01T12:00:00+00:00\n");
}

TEST(Program, counts_in_decimal) {
  const std::string out = dutiful({"next", "* * * * *", "--count", "010"}).out;
  EXPECT_EQ(std::ranges::count(out, '\n'), 10);
}

TEST(Program, prev_prints_the_newest_first) {
  EXPECT_EQ(dutiful({"prev", "0 0 29 2 *", "--count", "2"}).out,
            "2024-02-29T00:00:00+00:00\n2020-02-29T00:00:00+00:00\n");
}

TEST(Program, from_is_an_instant_or_a_local_time_of_the_zone) {
  const auto next = [](const char* from) {
    return dutiful({"next", "* * * * *", "--zone", "America/New_York", "--from", from}).out;
  };
  EXPECT_EQ(next("2025-06-01T08:00:00-04:00"), "2025-06-01T08:01:00-04:00\n");
  EXPECT_EQ(next("2025-06-01T12:00:00Z"), "2025-06-01T08:01:00-04:00\n");
  EXPECT_EQ(next("2025-06-01T08:00:00"), "2025-06-01T08:01:00-04:00\n");
  // A local time that occurs twice is its first occurrence; one that is skipped is the jump over
  // it.
  EXPECT_EQ(next("2025-11-02T01:30:00"), "2025-11-02T01:31:00-04:00\n");
  EXPECT_EQ(next("2025-03-09T02:30:00"), "2025-03-09T03:00:00-04:00\n");
}

TEST(Program, repeated_chooses_the_policy) {
  const auto next = [](const char* policy) {
    return dutiful({"next",
                    "30 1 * * *",
                    "--zone=America/New_York",
                    "--from=2025-11-02T01:30:00-04:00",
                    "--repeated",
                    policy})
        .out;
  };
  EXPECT_EQ(next("both"), "2025-11-02T01:30:00-05:00\n");
  EXPECT_EQ(next("first_only"), "2025-11-03T01:30:00-05:00\n");
}

TEST(Program, offsets_print_with_seconds_where_a_zone_has_them) {
  EXPECT_EQ(
      dutiful({"next", "0 12 * * *", "--zone", "Africa/Monrovia", "--from", "1971-06-01T00:00:00Z"})
          .out,
      "1971-06-01T12:00:00-00:44:30\n");
}

TEST(Program, json_is_one_object) {
  const auto result = dutiful({"next", "0 0 1 1 *", "--zone", "UTC", "--count", "2", "--json"});
  EXPECT_EQ(nlohmann::json::parse(result.out),
            nlohmann::json::parse(R"({"expression": "0 0 1 1 *", "zone": "UTC", "repeated": "both",
              "from": "2025-06-01T12:00:00+00:00",
              "occurrences": ["2026-01-01T00:00:00+00:00", "2027-01-01T00:00:00+00:00"]})"));
}

// FORMATS: nothing on stdout, the message of RULES E on stderr, exit 1.
TEST(Program, rejects_invalid_and_never_matching_expressions) {
  for (const char* command : {"next", "prev"}) {
    const auto invalid = dutiful({command, "*/15 * * * *", "--json"});
    EXPECT_EQ(invalid.out, "");
    EXPECT_EQ(invalid.err,
              "dutiful: Invalid cron expression \"*/15 * * * *\": minute field has the step "
              "\"*/15\"; POSIX cron has no steps; use 0,15,30,45\n");
    EXPECT_EQ(invalid.status, 1);

    const auto never = dutiful({command, "00 00 30 02 *", "--json"});
    EXPECT_EQ(never.out, "");
    EXPECT_EQ(never.err,
              "dutiful: Failed to calculate next occurrence: \"00 00 30 02 *\" never matches, "
              "because none of "
              "its months has any of its days\n");
    EXPECT_EQ(never.status, 1);
  }
}

TEST(Program, prints_the_occurrences_before_the_year_10000) {
  const auto result =
      dutiful({"next", "0 0 1 1 *", "--count", "9", "--from", "9997-06-01T00:00:00Z"});
  EXPECT_EQ(result.out, "9998-01-01T00:00:00+00:00\n9999-01-01T00:00:00+00:00\n");
  EXPECT_THAT(result.err, HasSubstr("has no occurrence before the year 10000"));
  EXPECT_EQ(result.status, 1);
}

TEST(Program, rejects_wrong_usage_with_status_2) {
  struct Row {
    std::vector<std::string> arguments;
    const char* message;
  };
  for (const Row& row : std::initializer_list<Row>{
           {{}, "missing command; see dutiful --help"},
           {{"nxt", "* * * * *"},
            "unknown command \"nxt\"; did you mean next? the commands are run, check, next, "
            "prev, "},
           {{"nxet"}, "unknown command \"nxet\"; did you mean next? the commands are run"},
           {{"bogus"}, "unknown command \"bogus\"; the commands are run"},
           {{"--help", "bogus"}, "unknown command \"bogus\""},
           {{"verify", "-x"}, "unknown option \"-x\"; see dutiful verify --help"},
           {{"next"}, "missing argument EXPR"},
           {{"next", "*", "*", "*", "*", "*"}, "put quotes around it: '15 3 * * 1-5'"},
           {{"next", "* * * * *", "--bogus"}, "unknown option \"--bogus\""},
           {{"next", "* * * * *", "--count", "0"},
            "--count: \"0\" is too small; use a number from 1 to 9223372036854775807"},
           {{"next", "* * * * *", "--count", "-1"}, "--count"},
           {{"next", "* * * * *", "--count", "many"}, "--count: \"many\" is not a number"},
           {{"next", "* * * * *", "--count", "0x3"}, "--count"},
           {{"next", "* * * * *", "--count", "99999999999999999999"},
            "is too large; use a number from 1"},
           {{"--bogus"}, "unknown option \"--bogus\""},
           {{"next", "* * * * *", "--repeated", "twice"},
            "--repeated: unknown value \"twice\"; write --repeated both|first_only"},
           {{"next", "* * * * *", "--json=false"}, "--json takes no value"},
           {{"run", "tasks.toml", "--output=3"}, "--output takes no value"},
           {{"next", "--zone=", "* * * * *"}, "--zone: the zone name is empty"},
           {{"next", "* * * * *", "--from="}, "--from: \"\" is not a time"},
           {{"next", "* * * * *", "--from", "-5"}, "--from: \"-5\" is not a time"},
           {{"next", "* * * * *", "--count", "1", "--count", "2"}, "--count is given twice"},
           {{"verify", "/nowhere", "--a", "1000001"},
            "--a: \"1000001\" is too large; use a number from 0 to 1000000"},
           {{"verify", "/nowhere", "--lag", "long"}, "--lag: "},
           {{"status", "more"}, "unexpected argument \"more\"; see dutiful status --help"},
           {{"next", "* * * * *", "--from", "tomorrow"}, "--from: \"tomorrow\" is not a time"},
           {{"next", "* * * * *", "--zone", "Mars/Olympus"}, "Cannot load time zone"},
           {{"explain"}, "missing argument EXPR"},
           {{"explain", "* * * * *", "more"}, "put quotes around it"},
       }) {
    const auto result = dutiful(row.arguments);
    EXPECT_EQ(result.status, 2) << row.message;
    EXPECT_EQ(result.out, "") << row.message;
    EXPECT_THAT(result.err, StartsWith("dutiful: "));
    EXPECT_THAT(result.err, HasSubstr(row.message));
  }
}

TEST(Program, rejects_years_without_four_digits) {
  for (const char* from : {"0001-01-01T00:00:00+14:00", "9999-12-31T23:59:00-14:00"}) {
    const auto result = dutiful({"next", "* * * * *", "--from", from});
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("is outside the years 1 to 9999"));
  }
}

// X4: an error is one line, whatever the input holds.
TEST(Program, keeps_errors_on_one_line) {
  const std::string forged = "x\ndutiful: all is well\x1b[2J\xff";
  const WithVariable tzdir{"TZDIR", "/nowhere\nat all"};
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{forged},
                                                    {"next", forged},
                                                    {"next", "* * * * *", forged},
                                                    {"next", "* * * * *", "--" + forged},
                                                    {"next", "* * * * *", "--zone", forged},
                                                    {"next", "* * * * *", "--from", forged},
                                                    {"next", "* * * * *", "--count", forged},
                                                    {"next", "* * * * *", "--repeated", forged}}) {
    const std::string err = dutiful(arguments).err;
    EXPECT_EQ(std::ranges::count(err, '\n'), 1) << err;
    EXPECT_EQ(err.find_first_of("\x1b\xff"), std::string::npos) << err;
  }
}

TEST(Program, prints_json_for_a_zone_name_of_any_bytes) {
  const TemporaryDirectory directory;
  const std::string zone = directory.file("\xff");
  std::filesystem::copy_file(DUTIFUL_TEST_DATA "/zoneinfo/UTC", zone);
  const auto result = dutiful({"next", "* * * * *", "--json", "--zone", zone});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(nlohmann::json::accept(result.out));
}

TEST(Program, rejects_a_host_zone_that_cannot_be_loaded) {
  const WithVariable tz{"TZ", "Nowhere/City"};
  const auto result = dutiful({"next", "* * * * *"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("Cannot load time zone \"Nowhere/City\""));
}

TEST(Program, takes_expressions_that_begin_with_a_hyphen) {
  const auto result = dutiful({"next", "--count", "1", "--", "-5 * * * *"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("minute field has a sign"));
}

TEST(Program, explains_in_english) {
  const auto result = dutiful({"explain", "15 3 * * 1-5"});
  EXPECT_EQ(result.out, "At 03:15, Monday through Friday\n");
  EXPECT_EQ(result.status, 0);
}

TEST(Program, rejects_an_expression_of_signs_like_any_other) {
  const auto result = dutiful({"explain", "++"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, StartsWith("dutiful: Invalid cron expression \"++\": "));
}

TEST(Program, explains_that_an_expression_is_never_due) {
  const auto result = dutiful({"explain", "0 0 30 2 *"});
  EXPECT_EQ(result.out,
            "At 00:00, on the 30th of February\n"
            "It is never due: \"0 0 30 2 *\" never matches, because none of its months has any of "
            "its days\n");
  EXPECT_EQ(result.status, 0);
}

// E: an expression longer than the limit is not printed.
TEST(Program, explain_does_not_print_an_expression_that_is_too_long) {
  const auto result = dutiful({"explain", std::string(100'000, '1') + " * * * *"});
  EXPECT_EQ(result.status, 1);
  EXPECT_LT(result.err.size(), 1000);
}

TEST(Program, explain_points_at_the_offending_characters) {
  const auto result = dutiful({"explain", "0 0 * * mon-fri"});
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "dutiful: Invalid cron expression \"0 0 * * mon-fri\": weekday field has the name "
            "\"mon\"; POSIX cron has only numbers; use 1-5\n"
            "  0 0 * * mon-fri\n"
            "          ^^^\n");
  EXPECT_EQ(result.status, 1);

  // The carets stand below the escaped text, which may be longer than the argument.
  EXPECT_THAT(dutiful({"explain", "1\t2 é 3 *\n"}).err,
              HasSubstr("  1\\t2 é 3 *\\n\n"
                        "       ^\n"));
  EXPECT_THAT(dutiful({"explain", ""}).err, HasSubstr("\n  \n  ^\n"));
}

TEST(Program, explain_prints_json) {
  const auto valid = nlohmann::json::parse(dutiful({"explain", "--json", "15 03 * * 1-5"}).out);
  EXPECT_EQ(valid["valid"], true);
  EXPECT_EQ(valid["english"], "At 03:15, Monday through Friday");
  EXPECT_EQ(valid["canonical"], "15 3 * * 1-5");
  EXPECT_EQ(valid["neverMatches"], false);

  const auto result = dutiful({"explain", "--json", "@daily\xff"});
  const auto invalid = nlohmann::json::parse(result.out);
  EXPECT_EQ(invalid["valid"], false);
  EXPECT_EQ(invalid["error"], "InvalidCronExpressionError");
  EXPECT_EQ(invalid["field"], "expression");
  EXPECT_EQ(invalid["equivalent"], nullptr);
  EXPECT_EQ(result.status, 1);
}

TEST(Program, every_command_has_help) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"next", "--help"},
                                                    {"prev", "--help"},
                                                    {"explain", "--help"},
                                                    {"check", "--help"},
                                                    {"run", "--help"},
                                                    {"status", "--help"},
                                                    {"history", "--help"},
                                                    {"simulate", "--help"},
                                                    {"verify", "--help"},
                                                    {"import-crontab", "--help"}}) {
    const auto result = dutiful(arguments);
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, HasSubstr("Usage: dutiful"));
    EXPECT_EQ(result.err, "");
  }
  EXPECT_THAT(dutiful({"--version"}).out, StartsWith("dutiful "));
}

}  // namespace
}  // namespace dutiful
