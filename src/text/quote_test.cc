#include "text/quote.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/characters.h"

namespace dutiful {
namespace {

// RULES V: C0 and C1 controls, separators of lines and paragraphs, bidirectional controls.
bool may_be_shown(char32_t code) {
  const auto between = [code](char32_t low, char32_t high) { return low <= code && code <= high; };
  return !(code < 0x20 || between(0x7f, 0x9f) || code == 0x61c || between(0x200e, 0x200f) ||
           between(0x2028, 0x202e) || between(0x2066, 0x2069));
}

TEST(Quote, keeps_printable_text_as_it_is) {
  EXPECT_EQ(quote("15 3 * * 1-5"), "\"15 3 * * 1-5\"");
  EXPECT_EQ(quote("Größe 日本 🕐"), "\"Größe 日本 🕐\"");
  EXPECT_EQ(quote(""), "\"\"");
}

// RULES V: a name can never forge a line.
TEST(Quote, puts_everything_on_one_line) {
  EXPECT_EQ(quote("a\nb\tc\rd"), R"("a\nb\tc\rd")");
  EXPECT_EQ(quote("\x1b[31m\x7f"), R"("\x1b[31m\x7f")");
  EXPECT_EQ(quote(std::string_view{"\0", 1}), R"("\x00")");
  EXPECT_EQ(quote("\u0085\u2028\u2029"), R"("\xc2\x85\xe2\x80\xa8\xe2\x80\xa9")");
}

TEST(Quote, writes_json_strings) {
  EXPECT_EQ(json_string("a\"b\\c\n\x7f"), R"("a\"b\\c\u000a\u007f")");
  EXPECT_EQ(json_string("Größe\xff"), R"("Größe\\xff")");
  EXPECT_EQ(json_string(std::string_view{"\0", 1}), R"("\u0000")");
}

// V: in JSON and in lines for people.
TEST(Quote, shows_every_character_but_controls) {
  for_every_character([](char32_t code) {
    const std::string character = utf8(code);
    const bool shown = may_be_shown(code);
    const auto is_shown_in = [&](const std::string& text) {
      return text.find(character) != std::string::npos;
    };
    ASSERT_EQ(is_shown_in(json_string(character)), shown) << unsigned{code};
    ASSERT_EQ(is_shown_in(quote(character)), shown) << unsigned{code};
    ASSERT_EQ(is_shown_in(escape(character)), shown) << unsigned{code};
    ASSERT_EQ(is_shown_in(on_one_line(character)), shown) << unsigned{code};
  });
}

// V: a reader of the JSON gets the text back.
TEST(Quote, writes_json_that_reads_back) {
  std::string every;
  for_every_character([&](char32_t code) { every += utf8(code); });
  EXPECT_TRUE(nlohmann::json::parse(json_string(every)) == every);
}

TEST(Quote, keeps_printable_characters_in_json) {
  EXPECT_EQ(json_string("Größe 日本 🕐 שלום\u200d\u2027"), "\"Größe 日本 🕐 שלום\u200d\u2027\"");
  EXPECT_EQ(json_string("\u009b\u061c\u2028\u202e"), R"("\u009b\u061c\u2028\u202e")");
}

TEST(Quote, keeps_the_direction_of_writing) {
  EXPECT_EQ(quote("\u202e"), R"("\xe2\x80\xae")");
  EXPECT_EQ(quote("\u2066"), R"("\xe2\x81\xa6")");
  EXPECT_EQ(quote("\u061c\u200e\u200f"), R"("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f")");
  EXPECT_EQ(quote("שלום"), "\"שלום\"");
}

TEST(Quote, escapes_the_closing_quote) {
  EXPECT_EQ(quote(R"(say "hi" \ bye)"), R"("say \"hi\" \\ bye")");
}

TEST(Quote, escapes_only_the_surrounding_kind_of_quote) {
  EXPECT_EQ(quote(R"(it's "so" \)", '\''), R"('it\'s "so" \\')");
}

// RULES E: a value in a message is cut at 200 bytes.
TEST(Quote, cuts_long_values_and_says_how_long_they_are) {
  const std::string most(200, 'a');
  EXPECT_EQ(quote(most), '"' + most + '"');
  EXPECT_EQ(quote(most + 'b'), '"' + most + "…\" (201 bytes)");
  EXPECT_EQ(quote(most + 'b', '\''), '\'' + most + "…' (201 bytes)");
  EXPECT_EQ(show(most + 'b'), most + "… (201 bytes)");
  EXPECT_EQ(show("a\n"), "a\\n");
  EXPECT_LT(quote(std::string(1'000'000, '\xff')).size(), 1000);
}

TEST(Quote, does_not_cut_inside_a_character) {
  for (const std::string_view character : {"é", "€", "😀"}) {
    for (std::size_t before = 196; before <= 200; ++before) {
      std::string text(before, 'a');
      text.append(character).append(std::string(100, 'b'));
      const std::size_t end = before + character.size();
      const std::string shown = text.substr(0, end <= 200 ? 200 : before);
      EXPECT_EQ(show(text), shown + "… (" + std::to_string(text.size()) + " bytes)") << before;
    }
  }
  // Bytes that are not UTF-8 may be cut anywhere.
  std::string expected;
  for (int i = 0; i < 200; ++i) expected += "\\x80";
  EXPECT_EQ(show(std::string(201, '\x80')), expected + "… (201 bytes)");
}

TEST(Quote, does_not_escape_quotes_without_surrounding_quotes) {
  EXPECT_EQ(escape("say \"hi\"\n"), R"(say "hi"\n)");
}

TEST(Quote, does_not_escape_a_message_twice) {
  EXPECT_EQ(on_one_line("no file " + quote("a\\b\n") + "\n\x1b"), R"(no file "a\\b\n"\n\x1b)");
}

TEST(Quote, shows_bytes_that_are_not_utf_8) {
  EXPECT_EQ(quote("\xff"), R"("\xff")");
  EXPECT_EQ(quote("\xc3("), R"("\xc3(")");
  EXPECT_EQ(quote("\xc0\xaf"), R"("\xc0\xaf")");                  // overlong
  EXPECT_EQ(quote("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // a surrogate
  EXPECT_EQ(quote("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // beyond U+10FFFF
  EXPECT_EQ(quote("\xe6\x97"), R"("\xe6\x97")");                  // cut short
}

}  // namespace
}  // namespace dutiful
