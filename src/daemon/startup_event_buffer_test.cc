#include "daemon/startup_event_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful {
namespace {

using testing::ElementsAre;

class StartupEvents : public testing::Test {
 protected:
  void add(event::Any what, std::string line) {
    buffer.add({.at = Instant{}, .what = std::move(what)}, std::move(line));
  }

  std::vector<std::string> lines;
  StartupEventBuffer buffer{[this](std::string line) { lines.push_back(std::move(line)); }};
};

TEST_F(StartupEvents, are_written_until_the_first_start) {
  add(event::TaskAdded{.task = "a", .cron = "* * * * *"}, "added");
  add(event::TaskRunStarted{.task = "a", .scheduled = {}, .actual = {}}, "started");
  add(event::TaskRunCompleted{.task = "a"}, "completed");
  EXPECT_THAT(lines, ElementsAre("added"));
  buffer.release();
  EXPECT_THAT(lines, ElementsAre("added", "started", "completed"));
}

TEST_F(StartupEvents, include_the_announcement_of_a_retry) {
  add(event::TaskRetryStarted{.task = "a", .retries = 1}, "retry");
  add(event::TaskRunStarted{.task = "a", .scheduled = {}, .actual = {}}, "started");
  EXPECT_THAT(lines, ElementsAre());
  buffer.release();
  EXPECT_THAT(lines, ElementsAre("retry", "started"));
}

TEST_F(StartupEvents, are_written_at_once_after_the_release) {
  buffer.release();
  add(event::TaskRunStarted{.task = "a", .scheduled = {}, .actual = {}}, "started");
  EXPECT_THAT(lines, ElementsAre("started"));
}

}  // namespace
}  // namespace dutiful
