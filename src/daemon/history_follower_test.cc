#include "daemon/history_follower.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/history.h"
#include "daemon/history_reader.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::ElementsAre;

class FollowedHistory : public testing::Test {
 protected:
  void add(std::uint32_t attempt) const { HistoryWriter{{.state = state}}.add(run(attempt)); }
  static HistoryEntry run(std::uint32_t attempt) {
    HistoryEntry made;
    made.result.run.task = "a";
    made.result.run.attempt = attempt;
    made.result.exit_status = 0;
    return made;
  }
  static std::vector<std::uint32_t> take(HistoryFollower& follower) {
    std::vector<std::uint32_t> attempts;
    follower.take([&](const HistoryEntry& entry) { attempts.push_back(entry.result.run.attempt); });
    return attempts;
  }

  TemporaryDirectory directory;
  std::string state = directory.file("state.db");
};

TEST_F(FollowedHistory, gives_each_run_once_across_writers) {
  HistoryFollower follower{state, 0};
  EXPECT_THAT(take(follower), ElementsAre());  // there is no file yet
  add(1);
  add(2);
  EXPECT_THAT(take(follower), ElementsAre(1, 2));
  EXPECT_THAT(take(follower), ElementsAre());
  EXPECT_THAT(take(follower), ElementsAre());
  {
    HistoryWriter writer{{.state = state}};
    std::vector<std::uint32_t> attempts;
    for (std::uint32_t attempt = 3; attempt <= 50; ++attempt) {
      writer.add(run(attempt));
      while (take(follower) != std::vector{attempt}) {
        // The writer has not written it yet.
      }
    }
  }
  EXPECT_THAT(take(follower), ElementsAre());
  add(51);
  EXPECT_THAT(take(follower), ElementsAre(51));
}

TEST_F(FollowedHistory, begins_after_the_given_run) {
  add(1);
  add(2);
  HistoryFollower follower{state, 1};
  EXPECT_THAT(take(follower), ElementsAre(2));
}

TEST_F(FollowedHistory, continues_in_a_new_file) {
  for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) add(attempt);
  HistoryFollower follower{state, 3};
  EXPECT_THAT(take(follower), ElementsAre());
  std::filesystem::rename(history_of(state), directory.file("old"));
  EXPECT_THAT(take(follower), ElementsAre());
  for (std::uint32_t attempt = 4; attempt <= 8; ++attempt) add(attempt);
  EXPECT_THAT(take(follower), ElementsAre(4, 5, 6, 7, 8));
}

}  // namespace
}  // namespace dutiful
