#include "posix/random_name.h"

#include <set>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

TEST(RandomName, has_32_hexadecimal_digits_and_does_not_come_twice) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(random_name());
  EXPECT_EQ(names.size(), 1000U);
  for (const std::string& name : names) {
    EXPECT_EQ(name.size(), 32U) << name;
    EXPECT_EQ(name.find_first_not_of("0123456789abcdef"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace dutiful
