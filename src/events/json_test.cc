#include <sstream>

#include <gtest/gtest.h>

#include <dutiful/events.h>

#include "support/times.h"

namespace dutiful {
namespace {

TEST(Events, are_one_line_of_json) {
  const Event event{.name = "TaskRunFailed",
                    .level = Level::warning,
                    .at = at("2025-03-03T10:00:00.250Z"),
                    .fields = {{"taskName", std::string{"a\n\xff\"b"}},
                               {"duration", std::int64_t{17}},
                               {"success", false},
                               {"oldState", std::vector<EventField>{{"cron", std::string{"*"}}}}}};
  EXPECT_EQ(
      to_json(event),
      R"({"time":"2025-03-03T10:00:00.250Z","level":"WARNING","event":"TaskRunFailed",)"
      R"("taskName":"a\u000a\\xff\"b","duration":17,"success":false,"oldState":{"cron":"*"}})");

  std::ostringstream out;
  json_lines(out)(
      {.name = "SchedulerStopped", .level = Level::info, .at = Instant{}, .fields = {}});
  EXPECT_EQ(out.str(),
            "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"INFO\","
            "\"event\":\"SchedulerStopped\"}\n");
}

// V: without escapes, the name would end the line or reverse its text on a terminal.
TEST(Events, escape_control_characters) {
  const Event event{.name = "TaskRemoved",
                    .level = Level::info,
                    .at = Instant{},
                    .fields = {{"taskName", std::string{"a\u0085\u2029\u202e\u200fé"}}}};
  EXPECT_EQ(to_json(event),
            R"({"time":"1970-01-01T00:00:00.000Z","level":"INFO","event":"TaskRemoved",)"
            R"("taskName":"a\u0085\u2029\u202e\u200fé"})");
}

}  // namespace
}  // namespace dutiful
