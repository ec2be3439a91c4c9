#include "text/utf8.h"

#include <gtest/gtest.h>

#include "support/characters.h"

namespace dutiful {
namespace {

TEST(Utf8, finds_the_first_byte_that_is_not_utf8) {
  EXPECT_EQ(find_not_utf8(""), std::string_view::npos);
  EXPECT_EQ(find_not_utf8("aé€😀\x7f"), std::string_view::npos);
  EXPECT_EQ(find_not_utf8("aé\xff"), 3);
  EXPECT_EQ(find_not_utf8("a\xc3"), 1);
  EXPECT_EQ(find_not_utf8("\xc0\x80"), 0);      // overlong
  EXPECT_EQ(find_not_utf8("\xed\xa0\x80"), 0);  // a surrogate
}

TEST(Utf8, decodes_every_character) {
  for_every_character([](char32_t code) {
    ASSERT_EQ(utf8_length(utf8(code)), utf8(code).size());
    ASSERT_EQ(utf8_code(utf8(code)), code);
  });
}

}  // namespace
}  // namespace dutiful
