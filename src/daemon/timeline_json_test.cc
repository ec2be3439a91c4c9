#include "daemon/timeline_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Instant noon = at("2025-03-03T12:00:00Z");

TEST(Uptimes, of_the_present_daemon_last_until_now) {
  const Uptime previous{noon - 9h, noon - 8h};
  EXPECT_THAT(with_present({previous, {noon - 1h, noon - 1min}}, noon - 1h, noon),
              ElementsAre(previous, Uptime{noon - 1h, noon}));
  // The host was asleep meanwhile.
  EXPECT_THAT(
      with_present({previous, {noon - 3h, noon - 2h}, {noon - 1h, noon - 1min}}, noon - 3h, noon),
      ElementsAre(previous, Uptime{noon - 3h, noon - 2h}, Uptime{noon - 1h, noon}));
}

TEST(Uptimes, include_a_daemon_that_could_not_be_recorded) {
  const Uptime previous{noon - 9h, noon - 8h};
  // The first of them has been deleted.
  EXPECT_THAT(with_present({{noon - 1h, noon - 1min}}, noon - 3h, noon),
              ElementsAre(Uptime{noon - 1h, noon}));
  EXPECT_THAT(with_present({previous}, noon - 1h, noon),
              ElementsAre(previous, Uptime{noon - 1h, noon}));
  EXPECT_THAT(with_present({}, noon - 1h, noon), ElementsAre(Uptime{noon - 1h, noon}));
  EXPECT_THAT(with_present({previous}, std::nullopt, noon), ElementsAre(previous));
  EXPECT_THAT(with_present({}, std::nullopt, noon), IsEmpty());
  // The clock was set back.
  EXPECT_THAT(with_present({}, noon + 1h, noon), ElementsAre(Uptime{noon + 1h, noon + 1h}));
}

}  // namespace
}  // namespace dutiful
