#include "http/body_budget.h"

#include <gtest/gtest.h>

namespace dutiful::http {
namespace {

TEST(BodyBudget, refuses_a_body_while_the_others_use_all_of_it) {
  BodyBudget budget{100, 10};
  auto first = budget.take(60);
  auto second = budget.take(60);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(budget.take(11));
  EXPECT_FALSE(budget.take(11));  // a refusal uses nothing
  second.reset();
  EXPECT_TRUE(budget.take(60));
}

TEST(BodyBudget, admits_small_bodies_always) {
  BodyBudget budget{100, 10};
  const auto large = budget.take(1000);
  EXPECT_TRUE(large);
  EXPECT_FALSE(budget.take(11));
  EXPECT_TRUE(budget.take(10));
}

TEST(BodyBudget, counts_a_share_that_was_moved_once) {
  BodyBudget budget{100, 10};
  {
    auto share = budget.take(100);
    const BodyBudget::Share moved = std::move(*share);
    share.reset();
    EXPECT_FALSE(budget.take(11));
  }
  EXPECT_TRUE(budget.take(100));
}

}  // namespace
}  // namespace dutiful::http
