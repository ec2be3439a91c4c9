#include "daemon/stop_requests.h"

#include <csignal>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Meaning = StopRequests::Meaning;

constexpr StopRequests::Clock::time_point start{};

TEST(Signals, that_come_twice_at_once_are_one_request) {
  StopRequests requests;
  EXPECT_EQ(requests.take(SIGTERM, start), Meaning::stop);
  EXPECT_EQ(requests.take(SIGTERM, start + 3us), Meaning::echo);  // as timeout(1) sends it
  EXPECT_EQ(requests.take(SIGTERM, start + 999ms), Meaning::echo);
}

TEST(Signals, that_come_again_end_the_commands) {
  StopRequests requests;
  EXPECT_EQ(requests.take(SIGTERM, start), Meaning::stop);
  EXPECT_EQ(requests.take(SIGTERM, start + 1s), Meaning::end);
  EXPECT_EQ(requests.take(SIGTERM, start + 1s), Meaning::end);
}

TEST(Signals, of_another_kind_end_the_commands_at_once) {
  StopRequests requests;
  EXPECT_EQ(requests.take(SIGINT, start), Meaning::stop);
  EXPECT_EQ(requests.take(SIGTERM, start), Meaning::end);
}

}  // namespace
}  // namespace dutiful
