#include "daemon/stop_signals.h"

#include <csignal>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Meaning = StopSignals::Meaning;

constexpr StopSignals::Clock::time_point start{};

TEST(Signals, that_arrive_twice_at_once_are_one_request) {
  StopSignals requests;
  EXPECT_EQ(requests.take(SIGTERM, start), Meaning::stop);
  EXPECT_EQ(requests.take(SIGTERM, start + 3us), Meaning::duplicate);  // as timeout(1) sends it
  EXPECT_EQ(requests.take(SIGTERM, start + 999ms), Meaning::duplicate);
}

TEST(Signals, that_are_repeated_later_terminate_the_commands) {
  StopSignals requests;
  EXPECT_EQ(requests.take(SIGTERM, start), Meaning::stop);
  EXPECT_EQ(requests.take(SIGTERM, start + 1s), Meaning::terminate);
  EXPECT_EQ(requests.take(SIGTERM, start + 1s), Meaning::terminate);
}

TEST(Signals, of_another_kind_terminate_the_commands_at_once) {
  StopSignals requests;
  EXPECT_EQ(requests.take(SIGINT, start), Meaning::stop);
  EXPECT_EQ(requests.take(SIGTERM, start), Meaning::terminate);
}

}  // namespace
}  // namespace dutiful
