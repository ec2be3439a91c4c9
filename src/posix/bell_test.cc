#include "posix/bell.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace dutiful {
namespace {

bool is_readable(const Bell& bell) {
  pollfd waiting{.fd = bell.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, 0) > 0;
}

TEST(Bell, is_readable_from_its_ring_until_it_is_taken) {
  Bell bell;
  EXPECT_FALSE(is_readable(bell));
  bell.ring();
  EXPECT_TRUE(is_readable(bell));
  bell.take();
  EXPECT_FALSE(is_readable(bell));
}

TEST(Bell, that_rang_often_is_taken_once) {
  Bell bell;
  bell.ring();
  bell.ring();
  bell.take();
  EXPECT_FALSE(is_readable(bell));
  bell.take();  // does not wait for a ring
  EXPECT_FALSE(is_readable(bell));
}

}  // namespace
}  // namespace dutiful
