#include "http/target.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Segments = std::vector<std::string>;

TEST(Target, is_split_before_it_is_decoded) {
  EXPECT_THAT(parse_target("/", 8).segments, IsEmpty());
  EXPECT_EQ(parse_target("/tasks", 8).segments, Segments{"tasks"});
  EXPECT_EQ(parse_target("/tasks/", 8).segments, (Segments{"tasks", ""}));
  EXPECT_EQ(parse_target("//", 8).segments, (Segments{"", ""}));
  EXPECT_EQ(parse_target("/tasks/a%2Fb%3fc", 8).segments, (Segments{"tasks", "a/b?c"}));
  EXPECT_EQ(parse_target("/gr%C3%BC%c3%9fe+1", 8).segments, Segments{"grüße+1"});
  EXPECT_EQ(parse_target("/a%20b?x", 8).path, "/a%20b");
}

TEST(Target, has_the_parameters_in_their_order) {
  EXPECT_THAT(parse_target("/?a=1&b=%26%3D&a=x+y&c&=d&&e==f", 8).query,
              ElementsAre(Field{"a", "1"},
                          Field{"b", "&="},
                          Field{"a", "x y"},
                          Field{"c", ""},
                          Field{"", "d"},
                          Field{"e", "=f"}));
  EXPECT_THAT(parse_target("/?", 8).query, IsEmpty());
}

TEST(Target, is_refused_if_it_could_be_read_in_two_ways) {
  for (const char* text : {"",      "*",       "tasks",   "http://localhost/tasks",
                           "/%",    "/%4",     "/%4g",    "/%g4",
                           "/%00",  "/a/../b", "/./a",    "/%2e%2E/a",
                           "/..",   "/%ff",    "/%C3",    "/%c0%af",
                           "/?a=%", "/?%zz=1", "/?a=%00", "/?a=%ff",
                           "/a b",  "/?a=b c", "/a\tb",   "/a\x7f"}) {
    SCOPED_TRACE(text);
    const Target target = parse_target(text, 8);
    EXPECT_NE(target.error, "");
    EXPECT_THAT(target.segments, IsEmpty());
  }
  EXPECT_EQ(parse_target("/.../..a/a..", 8).error, "");
}

TEST(Target, has_a_bounded_number_of_parameters) {
  EXPECT_EQ(parse_target("/?a&b", 2).error, "");
  EXPECT_EQ(parse_target("/?a&b&c", 2).error, "the query has more than 2 parameters");
}

}  // namespace
}  // namespace dutiful::http
