// The scenarios of the oracle (tests/data), played by the real engine in virtual time.

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/play.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using nlohmann::json;

class Events : public TraceSink {
 public:
  void on(Instant at, const TraceEvent& event) override { events.push_back({at, event}); }
  std::vector<TracedEvent> events;
};

// An event as one line: its instant, name and task, then the rest that is compared.
struct Line {
  std::string at;
  std::string task;  // empty for the scheduler's own events
  std::string text;
  friend bool operator==(const Line&, const Line&) = default;
};

Line line_of(const TracedEvent& traced) {
  Line line{format_utc(traced.at), {}, {}};
  std::visit(
      [&line](const auto& event) {
        using Event = std::decay_t<decltype(event)>;
        if constexpr (std::is_same_v<Event, InitStart>) line.text = "InitStart";
        if constexpr (std::is_same_v<Event, InitSuccess>) line.text = "InitSuccess";
        if constexpr (std::is_same_v<Event, InitFailure>) line.text = "InitFailure " + event.error;
        if constexpr (std::is_same_v<Event, StopStart>) line.text = "StopStart";
        if constexpr (std::is_same_v<Event, StopEnd>) line.text = "StopEnd";
        if constexpr (std::is_same_v<Event, Crash>) line.text = "Crash";
        if constexpr (std::is_same_v<Event, Freeze>) line.text = "Freeze";
        if constexpr (std::is_same_v<Event, RunStart>) line.text = "RunStart " + event.reason;
        if constexpr (std::is_same_v<Event, RunSuccess>) line.text = "RunSuccess";
        if constexpr (std::is_same_v<Event, RunFailure>) line.text = "RunFailure";
        if constexpr (requires { event.task; }) line.task = event.task;
      },
      traced.event);
  return line;
}

Line line_of(const json& event) {
  std::string text = event["event"];
  if (event.contains("reason")) text += ' ' + event["reason"].get<std::string>();
  if (event.contains("error")) text += ' ' + event["error"].get<std::string>();
  return {event["at"], event.value("task", ""), text};
}

// The order of different tasks at one instant does not matter.
std::string normalised(std::vector<Line> lines) {
  const auto is_lifecycle = [](const Line& line) { return line.task.empty(); };
  for (auto begin = lines.begin(); begin != lines.end();) {
    if (is_lifecycle(*begin)) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, lines.end(), [&](const Line& line) {
      return is_lifecycle(line) || line.at != begin->at;
    });
    std::stable_sort(begin, end, [](const Line& a, const Line& b) { return a.task < b.task; });
    begin = end;
  }
  std::string text;
  for (const Line& line : lines) {
    text.append(line.at).append(" ").append(line.text);
    text.append(line.task.empty() ? "" : " ").append(line.task).append("\n");
  }
  return text;
}

TEST(Scenarios, of_the_oracle_have_the_expected_results) {
  std::ifstream file{DUTIFUL_TEST_DATA "/scenarios.jsonl"};
  int played = 0;
  for (std::string text; std::getline(file, text); ++played) {
    const json expected = json::parse(text);
    std::vector<Line> lines;
    for (const json& event : expected["trace"]) lines.push_back(line_of(event));
    std::vector<Line> observed;
    Events trace;
    play(parse_scenario(expected["scenario"].dump()), trace);
    for (const TracedEvent& event : trace.events) observed.push_back(line_of(event));
    EXPECT_EQ(normalised(observed), normalised(lines))
        << expected.value("name", "scenario " + std::to_string(played + 1)) << '\n'
        << expected["scenario"];
  }
  EXPECT_EQ(played, 80);
}

}  // namespace
}  // namespace dutiful
