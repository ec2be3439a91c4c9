#include "commands/output_tail.h"

#include <gtest/gtest.h>

namespace dutiful {
namespace {

TEST(OutputTail, keeps_the_last_bytes_and_counts_all) {
  OutputTail tail{4};
  tail.append("ab");
  tail.append("cdefg");
  tail.append("h");
  EXPECT_EQ(tail.total(), 8U);
  EXPECT_EQ(tail.take(), "efgh");
}

TEST(OutputTail, keeps_a_short_output_whole) {
  OutputTail tail{4};
  EXPECT_EQ(tail.total(), 0U);
  tail.append("ab");
  EXPECT_EQ(tail.take(), "ab");
}

TEST(OutputTail, is_the_same_however_the_output_is_cut) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    OutputTail tail{7};
    for (std::size_t begin = 0; begin < text.size(); begin += size) {
      tail.append(std::string_view{text}.substr(begin, size));
    }
    EXPECT_EQ(tail.total(), text.size());
    EXPECT_EQ(tail.take(), "azy dog") << size;
  }
}

}  // namespace
}  // namespace dutiful
