#include "core/by_name.h"

#include <random>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

std::vector<std::string> in_order(const std::vector<std::string>& names) {
  std::vector<std::string> ordered;
  for (const auto place :
       order_by_name(names, [](const std::string& name) -> std::string_view { return name; })) {
    ordered.push_back(names[place]);
  }
  return ordered;
}

TEST(ByName, sorts_names_by_their_bytes) {
  using namespace std::string_literals;
  const std::vector<std::string> names{"task 10",
                                       "task 9",
                                       "task ",
                                       "task 100",
                                       "task",
                                       "task 10\0"s,
                                       "task \xff",
                                       "task 1000000000",
                                       "task 1000000001"};

  auto sorted = names;
  std::ranges::sort(sorted);

  EXPECT_EQ(in_order(names), sorted);
}

TEST(ByName, sorts_an_empty_list) {
  EXPECT_TRUE(in_order({}).empty());
  EXPECT_EQ(in_order({"a"}), std::vector<std::string>{"a"});
}

// Few letters, one of them a zero byte, so that names share prefixes and are prefixes of others.
TEST(ByName, sorts_any_names) {
  std::mt19937 random{7};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> names(random() % 40);
    for (std::string& name : names) {
      name = std::string(random() % 3, 'p');
      for (auto length = random() % 12; length > 0; --length) name += "\0ab\xff"[random() % 4];
    }
    auto sorted = names;
    std::ranges::sort(sorted);
    ASSERT_EQ(in_order(names), sorted) << "in round " << round;
  }
}

}  // namespace
}  // namespace dutiful
