#include "trace/json_cursor.h"

#include <optional>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/characters.h"
#include "text/quote.h"

namespace dutiful {
namespace {

TEST(JsonCursor, reads_strings_with_every_escape) {
  EXPECT_EQ(JsonCursor{R"("plain")"}.read_string(), "plain");
  EXPECT_EQ(JsonCursor{R"("\"\\\/\b\f\n\r\t")"}.read_string(), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(JsonCursor{R"("\u0041\u00e9\u20ac\ud83d\ude00")"}.read_string(), "Aé€😀");
}

// A trace preserves every name, whatever its bytes.
TEST(JsonCursor, reads_what_json_string_writes) {
  std::string every;
  for_every_character([&](char32_t code) { every += utf8(code); });
  EXPECT_TRUE(JsonCursor{json_string(every)}.read_string() == every);
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

TEST(JsonCursor, rejects_text_that_is_not_json) {
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

TEST(JsonCursor, reports_the_place_and_the_problem) {
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

// The string, or the text of any other value; nothing if the text is not JSON.
std::optional<std::string> ours(const std::string& text) {
  try {
    JsonCursor json{text};
    const bool string = text.find_first_not_of(" \t\n") == text.find('"');
    std::string value = string ? json.read_string() : std::string{json.read_raw()};
    json.end();
    return value;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

std::optional<std::string> theirs(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.is_string()) return json.get<std::string>();
  } catch (const nlohmann::json::parse_error&) {
    return std::nullopt;
  }
  const auto begin = text.find_first_not_of(" \t\n");
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

TEST(JsonCursor, accepts_what_nlohmann_json_accepts) {
  const std::vector<std::string> seeds{
      R"({"at":"2025-03-09T06:58:00.000Z","event":"RunStart","task":"a","reason":"boot"})",
      R"([["a","* * * * *",300000],[-1.5e+3,0,true,false,null,{}]])",
      R"("\u0041\u00e9\ud83d\ude00\n\"\\\/x")",
      R"( {"a" : [1, {"b": null} ] , "c":-0.5E-2} )"};
  constexpr std::string_view alphabet = "{}[]\",:\\ud8c0149-+.eE\t\n truefalsnb/";
  std::mt19937_64 random{20250309};
  const auto roll = [&](std::size_t below) { return random() % below; };
  int taken = 0;
  constexpr int texts = 100'000;
  for (int i = 0; i < texts; ++i) {
    std::string text = seeds[roll(seeds.size())];
    for (auto changes = roll(4); changes > 0 && !text.empty(); --changes) {
      const std::size_t place = roll(text.size());
      const std::string character{alphabet[roll(alphabet.size())]};
      text.replace(place, roll(2), roll(3) == 0 ? "" : character);
    }
    std::optional<std::string> expected;
    try {
      expected = theirs(text);
    } catch (const nlohmann::json::out_of_range&) {
      continue;  // 1e999 is JSON, but not a number to nlohmann_json
    }
    ASSERT_EQ(ours(text), expected) << text;
    if (expected) ++taken;
  }
  EXPECT_GT(taken, texts / 4);
  EXPECT_LT(taken, texts * 3 / 4);
}

}  // namespace
}  // namespace dutiful
