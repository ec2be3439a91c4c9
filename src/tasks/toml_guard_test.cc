#include "tasks/toml_guard.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(TomlGuard, accepts_dots_that_do_not_nest) {
  for (const std::string& text :
       {std::string{"\xef\xbb\xbf# é\na = \"é\\\"é\" # ''\nb = 'é\\'\nc = '''é''é'''''\n"},
        std::string{"d = \"\"\"\\\"\"\"é\"\"\"\"\"\ne = \"\"\"\n\\n\\\n a é\"\"\""},
        "a" + repeat(".a", nesting_max - 1) + " = 1",
        "# " + repeat(".", 99) + "\na = '" + repeat(".", 99) + "'\n" + repeat("a = 1.5\n", 99) +
            "b = \"\\\"" + repeat(".", 99) + "\"\nc = \"\"\"\n\"" + repeat(".", 99) + "\"\"\""}) {
    EXPECT_EQ(guard_toml(text), std::nullopt) << text;
  }
}

TEST(TomlGuard, rejects_long_keys) {
  const auto problem = guard_toml("\n'é'" + repeat(".a", nesting_max));
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->place, (Place{.line = 2, .column = 2U * nesting_max + 2}));
}

TEST(TomlGuard, rejects_bytes_that_are_not_utf8) {
  const auto problem = guard_toml("\né\xff");
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->place, (Place{.line = 2, .column = 2}));
}

}  // namespace
}  // namespace dutiful
