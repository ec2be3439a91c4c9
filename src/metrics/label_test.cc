#include "metrics/label.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

struct Row {
  std::string_view value;
  std::string_view label;
};

TEST(Label, escapes_its_value) {
  using namespace std::string_view_literals;
  for (const auto& [value, expected] : {
           Row{"backup", R"(task="backup")"},
           Row{"", R"(task="")"},
           Row{"größe 日本 😀", R"(task="größe 日本 😀")"},
           Row{R"(say "hi")", R"(task="say \"hi\"")"},
           Row{R"(a\b)", R"(task="a\\b")"},
           Row{R"(a\)", R"(task="a\\")"},
           Row{"a\nb", R"(task="a\nb")"},
           Row{R"(a\nb)", R"(task="a\\nb")"},
           Row{"} 1\ndutiful_tasks 7", R"(task="} 1\ndutiful_tasks 7")"},
           // What a terminal would interpret is shown, as in the log.
           Row{"a\rb\tc", R"(task="a\\rb\\tc")"},
           Row{"\x1b[2J", R"(task="\\x1b[2J")"},
           Row{"a\0b"sv, R"(task="a\\x00b")"},
           Row{"\u202e", R"(task="\\xe2\\x80\\xae")"},
           // Not UTF-8.
           Row{"a\xff", R"(task="a\\xff")"},
           Row{"\xc3", R"(task="\\xc3")"},
           Row{"\xed\xa0\x80", R"(task="\\xed\\xa0\\x80")"},
       }) {
    EXPECT_EQ(label("task", value), expected);
  }
}

}  // namespace
}  // namespace dutiful
