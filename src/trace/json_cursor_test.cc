#include "trace/json_cursor.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

TEST(JsonCursor, reads_strings_with_every_escape) {
  EXPECT_EQ(JsonCursor{R"("plain")"}.read_string(), "plain");
  EXPECT_EQ(JsonCursor{R"("\"\\\/\b\f\n\r\t")"}.read_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(JsonCursor{R"("\u0041\u00e9\u20ac\ud83d\ude00")"}.read_string(), "Aé€😀");
}

TEST(JsonCursor, reads_nested_values_as_their_text) {
  JsonCursor json{R"( {"a" : [1, {"b": null} ] , "c":-1.5e+3 ,"d":true} )"};
  std::string seen;
  json.read_object([&](std::string_view key) {
    seen.append(key).append("=").append(json.read_raw()).append(";");
  });
  json.end();
  EXPECT_EQ(seen, R"(a=[1, {"b": null} ];c=-1.5e+3;d=true;)");
}

TEST(JsonCursor, refuses_what_is_not_json) {
  for (const char* text : {"",
                           "{",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "[1,]",
                           "[1 2]",
                           "tru",
                           "01",
                           "1.",
                           "-",
                           "1e",
                           "\"a",
                           "\"a\nb\"",
                           "\"\\q\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "{a:1}",
                           "1 1",
                           "nul",
                           "[\"\\x\"]",
                           "+1",
                           "\"\\"}) {
    EXPECT_THROW(
        {
          JsonCursor json{text};
          json.read_raw();
          json.end();
        },
        JsonError)
        << text;
  }
  const std::string deep(100'000, '[');
  EXPECT_THROW(JsonCursor{deep}.read_raw(), JsonError);
}

TEST(JsonCursor, says_where_and_what) {
  try {
    JsonCursor{"[1;2]"}.read_raw();
    FAIL();
  } catch (const JsonError& error) {
    EXPECT_STREQ(error.what(),
                 "bad JSON at column 3: a comma or the end of the list was expected instead of "
                 "\";\"");
  }
}

TEST(JsonCursor, reads_whole_numbers_only) {
  EXPECT_EQ(JsonCursor{"-9223372036854775808"}.read_integer(), INT64_MIN);
  EXPECT_THROW((void)JsonCursor{"9223372036854775808"}.read_integer(), JsonError);
  EXPECT_THROW((void)JsonCursor{"1.5"}.read_integer(), JsonError);
  EXPECT_THROW((void)JsonCursor{"\"1\""}.read_integer(), JsonError);
}

}  // namespace
}  // namespace dutiful
