#include "text/utf8.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

TEST(Utf8, what_is_none_is_found_where_it_begins) {
  EXPECT_EQ(find_not_utf8(""), std::string_view::npos);
  EXPECT_EQ(find_not_utf8("aé€😀\x7f"), std::string_view::npos);
  EXPECT_EQ(find_not_utf8("aé\xff"), 3);
  EXPECT_EQ(find_not_utf8("a\xc3"), 1);
  EXPECT_EQ(find_not_utf8("\xc0\x80"), 0);      // overlong
  EXPECT_EQ(find_not_utf8("\xed\xa0\x80"), 0);  // a surrogate
}

}  // namespace
}  // namespace dutiful
