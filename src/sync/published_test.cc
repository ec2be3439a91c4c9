#include "sync/published.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

struct Pair {
  std::int64_t up = 7;
  std::int64_t down = -7;
  std::array<std::int64_t, 30> more{};
};

TEST(Published, is_the_initial_value_at_first) {
  const Published<Pair> pair;
  EXPECT_EQ(pair.read().up, 7);
  EXPECT_EQ(pair.read().down, -7);
}

TEST(Published, is_read_as_a_change_has_left_it) {
  Published<Pair> pair;
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::thread reader{[&] {
    std::int64_t before = 0;
    while (!done) {
      const Pair read = pair.read();
      if (read.up + read.down != 0 || read.up < before ||
          (read.up > 7 && read.more[29] != read.up)) {
        ++torn;
      };
      before = read.up;
    }
  }};
  for (int i = 0; i < 200'000; ++i) {
    pair.update([](Pair& changed) {
      ++changed.up;
      --changed.down;
      changed.more.fill(changed.up);
    });
  }
  done = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(pair.read().up, 200'007);
}

}  // namespace
}  // namespace dutiful
