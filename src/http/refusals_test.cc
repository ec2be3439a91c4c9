#include "http/refusals.h"

#include <chrono>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace dutiful::http {
namespace {

using std::chrono::milliseconds;

constexpr Refusals::Time start{};

TEST(Refusals, are_reported_once_in_an_interval_with_the_number_of_the_others) {
  std::vector<RefusedRequest> reported;
  Refusals refusals{[&](const RefusedRequest& refused) { reported.push_back(refused); },
                    milliseconds{1000}};

  for (const int at : {0, 1, 999, 1000, 1500, 5000}) {
    refusals.add({.what = std::to_string(at), .reason = "r", .who = "w"}, start + milliseconds{at});
  }

  ASSERT_EQ(reported.size(), 3);
  EXPECT_EQ(reported[0].what, "0");
  EXPECT_EQ(reported[0].unreported, 0);
  EXPECT_EQ(reported[1].what, "1000");
  EXPECT_EQ(reported[1].unreported, 2);
  EXPECT_EQ(reported[2].what, "5000");
  EXPECT_EQ(reported[2].unreported, 1);
}

TEST(Refusals, survive_a_report_that_throws) {
  int calls = 0;
  Refusals refusals{[&](const RefusedRequest&) {
                      ++calls;
                      throw std::runtime_error("no");
                    },
                    milliseconds{10}};
  refusals.add({}, start);
  refusals.add({}, start + milliseconds{10});
  EXPECT_EQ(calls, 2);
  Refusals{{}, milliseconds{10}}.add({}, start);  // nobody listens
}

}  // namespace
}  // namespace dutiful::http
