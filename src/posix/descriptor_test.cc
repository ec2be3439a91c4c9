#include "posix/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

int open_one() {
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool is_open(int number) {
  return fcntl(number, F_GETFD) != -1;
}

TEST(Descriptor, closes_itself) {
  const int number = open_one();
  {
    const Descriptor descriptor{number};
    EXPECT_TRUE(descriptor.is_open());
    EXPECT_EQ(descriptor.get(), number);
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, is_closed_once_when_it_was_moved) {
  const int number = open_one();
  Descriptor first{number};
  Descriptor second{std::move(first)};
  first.reset();  // NOLINT(bugprone-use-after-move): it is not open, and that is what is tested
  EXPECT_TRUE(is_open(number));
  second.reset();
  EXPECT_FALSE(second.is_open());
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, closes_what_it_had_when_another_is_assigned) {
  const int old_number = open_one();
  const int new_number = open_one();
  Descriptor descriptor{old_number};
  descriptor = Descriptor{new_number};
  EXPECT_FALSE(is_open(old_number));
  EXPECT_TRUE(is_open(new_number));
}

TEST(Descriptor, that_is_not_open_closes_nothing) {
  const Descriptor failed{-1};
  EXPECT_FALSE(failed.is_open());
  EXPECT_FALSE(Descriptor{}.is_open());
}

}  // namespace
}  // namespace dutiful
