#include "sim/scenario.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/play.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

constexpr const char* everything =
    R"({"zone":"UTC","policies":{"repeatedMinutes":"first_only","reinitialize":"reconcile","override":"reset_history"},)"
    R"("maxConcurrent":2,"callbacks":{"a":[{"takesMs":5,"result":"failure"},{"takesMs":0,"result":"never"}]},)"
    R"("steps":[{"at":"2025-03-09T06:58:00.000Z","do":"initialize","registrations":[["a","* * * * *",300]]},)"
    R"({"at":"2025-03-09T06:58:00.000Z","do":"failCommits","commits":3},)"
    R"({"at":"2025-03-09T06:58:00.000Z","do":"crashInCommit","when":"after"},)"
    R"({"at":"2025-03-09T06:59:00.000Z","do":"crash"},)"
    R"({"at":"2025-03-09T06:59:00.000Z","do":"freeze","until":"2025-03-09T07:00:00.000Z"},)"
    R"({"at":"2025-03-09T07:00:00.000Z","do":"setClock","to":"2025-03-09T08:00:00.000Z"},)"
    R"({"at":"2025-03-09T08:00:00.000Z","do":"stop"},)"
    R"({"at":"2025-03-09T08:00:00.000Z","do":"end"}]})";

TEST(Scenario, is_read_and_written_alike) {
  EXPECT_EQ(to_json(parse_scenario(everything)), everything);
}

std::string malformed(const std::string& text) {
  try {
    (void)parse_scenario(text);
  } catch (const MalformedScenario& error) {
    return error.what();
  }
  return "is not malformed";
}

std::string with_step(const std::string& step) {
  return R"({"zone":"UTC","steps":[{"at":"2025-03-09T06:58:00Z","do":"stop"},)" + step +
         R"(,{"at":"2026-03-09T06:58:00Z","do":"end"}]})";
}

TEST(Scenario, that_is_malformed_is_reported_with_its_place) {
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "the scenario is not an object"},
      {"{}", "the scenario has no \"zone\""},
      {R"({"zone":"UTC"})", "the scenario has no \"steps\""},
      {R"({"zone":"UTC","steps":[]})", "steps is empty; the last one must be an end"},
      {R"({"zone":7,"steps":[]})", "zone is not a string"},
      {R"({"zone":"UTC","maxConcurrent":-1})", "maxConcurrent is negative"},
      {R"({"zone":"UTC","policies":{"override":"x"}})",
       "policies.override is \"x\", which is unknown"},
      {R"({"zone":"UTC","callbacks":{"a":[{"result":"maybe"}]}})",
       "callbacks.a[0].result is \"maybe\"; use success, failure or never"},
      {with_step(R"({"at":"2025-03-09T06:57:00Z","do":"stop"})"),
       "steps[1].at is before that of the previous step"},
      {with_step(R"({"at":"2025-03-09T06:58","do":"stop"})"),
       "steps[1].at is \"2025-03-09T06:58\", which is not an instant like "
       "2025-03-09T06:58:00.000Z"},
      {with_step(R"({"at":"2025-03-09T06:58:00Z","do":"end"})"),
       "steps[1] is an end, but not the last step"},
      {with_step(R"({"at":"2025-03-09T06:58:00Z","do":"explode"})"),
       "steps[1].do is \"explode\", which is unknown"},
      {with_step(R"({"at":"2025-03-09T06:58:00Z","do":"freeze"})"), "steps[1] has no \"until\""},
      {with_step(R"({"at":"2025-03-09T06:58:00Z","do":"initialize","registrations":[["a","b"]]})"),
       "steps[1].registrations[0] is not [name, cron, retry delay in ms]"},
      {with_step(R"({"at":"2025-03-09T06:58:00Z","do":"setClock","to":"2025-03-09T06:57:00Z"})"),
       "steps[1].to is in the past: a trace cannot contain a clock that is set back"}};
  for (const auto& [text, reason] : cases) EXPECT_EQ(malformed(text), reason) << text;
  EXPECT_TRUE(malformed("{").starts_with("it is not JSON: "));
  EXPECT_TRUE(malformed(R"({"zone":"Mars/Olympus_Mons"})").starts_with("zone cannot be loaded: "));
}

TEST(Scenario, with_a_number_out_of_range_is_malformed) {
  EXPECT_EQ(malformed(R"({"zone":"UTC","maxConcurrent":18446744073709551615})"),
            "maxConcurrent is too large");
}

class Lines : public TraceSink {
 public:
  void on(Instant at, const TraceEvent& event) override { text += to_line(at, event) + '\n'; }
  std::string text;
};

std::string played(const std::string& callback, int retry_ms) {
  Lines lines;
  play(parse_scenario(R"({"zone":"UTC","callbacks":{"a":[)" + callback +
                      R"(]},"steps":[)"
                      R"({"at":"2025-03-09T06:58:00Z","do":"initialize","registrations":)"
                      R"([["a","* * * * *",)" +
                      std::to_string(retry_ms) +
                      R"(]]},)"
                      R"({"at":"2025-03-09T06:58:00.002Z","do":"end"}]})"),
       lines);
  return lines.text;
}

TEST(Scenario, ends_at_its_end_even_in_a_freeze) {
  Lines lines;
  play(parse_scenario(
           R"({"zone":"UTC","steps":[)"
           R"({"at":"2025-01-01T00:00:00Z","do":"freeze","until":"2025-01-01T01:00:00Z"},)"
           R"({"at":"2025-01-01T00:10:00Z","do":"stop"},)"
           R"({"at":"2025-01-01T00:20:00Z","do":"end"}]})"),
       lines);
  EXPECT_EQ(std::ranges::count(lines.text, '\n'), 1) << lines.text;
}

TEST(Scenario, may_have_runs_that_never_end) {
  EXPECT_EQ(
      std::ranges::count(played(R"({"takesMs":9223372036854775807,"result":"failure"})", 1), '\n'),
      3);
}

TEST(Scenario, in_which_time_would_stand_still_is_rejected) {
  EXPECT_THROW((void)played(R"({"result":"failure"})", 0), MalformedScenario);
  EXPECT_THROW((void)played(R"({"takesMs":1,"result":"failure"},{"result":"failure"})", 0),
               MalformedScenario);
  EXPECT_EQ(std::ranges::count(played(R"({"result":"failure"})", 1), '\n'), 2 + 2 * 2);
  EXPECT_EQ(std::ranges::count(played(R"({"result":"failure"},{"result":"success"})", 0), '\n'),
            2 + 2 * 2);
}

}  // namespace
}  // namespace dutiful
