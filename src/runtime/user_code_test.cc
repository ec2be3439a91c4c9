#include "runtime/user_code.h"

#include <thread>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

using Kind = UserCode::Kind;

TEST(UserCode, is_that_of_one_scheduler_on_one_thread) {
  const int one = 0;
  const int other = 0;
  EXPECT_FALSE(UserCode::is_inside(&one));
  {
    const UserCode inside{&one, Kind::callback};
    EXPECT_TRUE(UserCode::is_inside(&one));
    EXPECT_FALSE(UserCode::is_inside(&one, Kind::preparation));
    EXPECT_FALSE(UserCode::is_inside(&other));
    std::thread{[&] { EXPECT_FALSE(UserCode::is_inside(&one)); }}.join();
  }
  EXPECT_FALSE(UserCode::is_inside(&one));
}

// A callback of one scheduler may initialize another, whose preparation must not stop the first.
TEST(UserCode, may_be_inside_that_of_another_scheduler) {
  const int one = 0;
  const int other = 0;
  const UserCode callback{&one, Kind::callback};
  {
    const UserCode preparation{&other, Kind::preparation};
    EXPECT_TRUE(UserCode::is_inside(&one, Kind::callback));
    EXPECT_TRUE(UserCode::is_inside(&other, Kind::preparation));
    EXPECT_FALSE(UserCode::is_inside(&other, Kind::callback));
  }
  EXPECT_TRUE(UserCode::is_inside(&one));
  EXPECT_FALSE(UserCode::is_inside(&other));
}

}  // namespace
}  // namespace dutiful
