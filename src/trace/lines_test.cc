#include "trace/lines.h"

#include <sstream>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

constexpr const char* header = R"({"trace":"dutiful/1","zone":"UTC"})";

// Reads a whole trace and writes it again.
std::string rewritten(const std::string& text) {
  std::istringstream in{text};
  TraceReader reader{in};
  std::string out = to_line(reader.header()) + '\n';
  for (TracedEvent event; reader.read(event);)
    out += to_line(event.at, event.event, event.member) + '\n';
  return out;
}

TEST(TraceLines, are_read_and_written_alike) {
  const std::string text =
      R"({"trace":"dutiful/1","zone":"America/New_York","policies":{"repeatedMinutes":"first_only","reinitialize":"reconcile","override":"reset_history"},"maxConcurrent":3}
{"at":"2025-03-09T06:58:00.000Z","event":"InitStart","registrations":[["a\"\n\\é","* * * * *",300000],["b","0 0 * * *",-1]]}
{"at":"2025-03-09T06:58:00.000Z","event":"InitFailure","error":"NegativeRetryDelayError"}
{"at":"2025-03-09T06:58:00.000Z","event":"InitStart","registrations":[]}
{"at":"2025-03-09T06:58:00.000Z","event":"InitSuccess"}
{"at":"2025-03-09T06:58:00.001Z","event":"RunStart","task":"a","reason":"boot"}
{"at":"2025-03-09T06:58:02.500Z","event":"RunFailure","task":"a"}
{"at":"2025-03-09T06:58:02.500Z","event":"RunSuccess","task":"b"}
{"at":"2025-03-09T06:58:02.500Z","event":"RunSuccess","task":"c","ended":"2025-03-09T06:58:01.000Z"}
{"at":"2025-03-09T06:58:02.500Z","event":"RunFailure","task":"d","ended":"2025-03-09T06:58:02.500Z"}
{"at":"2025-03-09T06:58:03.000Z","event":"Freeze","until":"2025-03-09T06:59:03.000Z"}
{"at":"2025-03-09T06:59:03.000Z","event":"StopStart"}
{"at":"2025-03-09T06:59:03.000Z","event":"StopEnd"}
{"at":"2025-03-09T06:59:30.000Z","event":"Crash"}
{"at":"2025-03-09T06:59:31.000Z","event":"InitStart","call":1,"registrations":[]}
{"at":"2025-03-09T06:59:31.000Z","event":"InitStart","call":2,"registrations":[]}
{"at":"2025-03-09T06:59:31.000Z","event":"InitFailure","call":2,"error":"SchedulerAlreadyActiveError"}
{"at":"2025-03-09T06:59:31.000Z","event":"InitSuccess","call":1}
{"at":"2025-03-09T06:59:31.000Z","event":"StopStart","call":3}
{"at":"2025-03-09T06:59:31.000Z","event":"StopEnd","call":3}
{"at":"2025-03-09T06:59:31.000Z","event":"InitStart","call":4,"registrations":[]}
{"at":"2025-03-09T06:59:31.000Z","event":"InitFailure","call":4,"error":"StateHeldError","cause":"environment"}
{"at":"2025-03-09T06:59:31.000Z","event":"InitStart","call":5,"registrations":[]}
{"at":"2025-03-09T06:59:31.000Z","event":"InitFailure","call":5,"error":"InvalidRegistrationError","cause":"unseen"}
)";
  std::string expected = text;
  expected.replace(expected.find("\\n"), 2, "\\u000a");  // as json_string() writes it
  EXPECT_EQ(rewritten(text), expected);
}

// N11: the events of a cluster carry their member, and those of a run its fence.
TEST(TraceLines, say_which_member_and_which_run) {
  const std::string text = std::string{header} + R"(
{"at":"2025-03-09T06:58:00.000Z","event":"InitStart","member":"m\"1","call":1,"registrations":[]}
{"at":"2025-03-09T06:58:00.000Z","event":"InitSuccess","member":"m\"1","call":1}
{"at":"2025-03-09T06:58:00.000Z","event":"RunStart","member":"m2","task":"a","reason":"boot","fence":7}
{"at":"2025-03-09T06:58:01.000Z","event":"RunInterrupted","member":"m2","task":"a","fence":7}
{"at":"2025-03-09T06:58:01.000Z","event":"RunInterrupted","task":"a","ended":"2025-03-09T06:58:00.500Z","fence":7}
{"at":"2025-03-09T06:58:01.000Z","event":"RunInterrupted","task":"a"}
{"at":"2025-03-09T06:58:01.000Z","event":"RunSuccess","member":"m2","task":"a","ended":"2025-03-09T06:58:00.500Z","fence":8}
{"at":"2025-03-09T06:58:01.000Z","event":"RunFailure","task":"a","fence":9223372036854775807}
{"at":"2025-03-09T06:58:01.000Z","event":"Crash","member":"m2"}
{"at":"2025-03-09T06:58:01.000Z","event":"Freeze","member":"m2","until":"2025-03-09T06:59:00.000Z"}
{"at":"2025-03-09T06:58:01.000Z","event":"Outage","member":"m2","until":"2025-03-09T06:59:00.000Z"}
{"at":"2025-03-09T06:58:01.000Z","event":"Outage","until":"2025-03-09T06:59:00.000Z"}
)";
  EXPECT_EQ(rewritten(text), text);
}

// A valid name may consist of any bytes. Names that look alike when printed are still different.
TEST(TraceLines, keep_the_bytes_of_a_name) {
  for (const std::string& name : {std::string{"\xff"},
                                  std::string{"\\xff"},
                                  std::string{"\xed\xb3\xbf"},
                                  std::string{"a\x80\xc3\xa9\xc3"},
                                  std::string(1024, '\xfe')}) {
    const std::string line =
        to_line(Instant{}, InitStart{{{name, "* * * * *", Duration::zero()}}}) + '\n' +
        to_line(Instant{}, RunStart{name, "cron"});
    std::istringstream in{std::string{header} + '\n' + line};
    TraceReader reader{in};
    TracedEvent event;
    ASSERT_TRUE(reader.read(event));
    EXPECT_EQ(std::get<InitStart>(event.event).registrations.at(0).name, name);
    ASSERT_TRUE(reader.read(event));
    EXPECT_EQ(std::get<RunStart>(event.event).task, name);
  }
}

TEST(TraceLines, may_have_fields_in_any_order_and_unknown_ones) {
  EXPECT_EQ(
      rewritten(std::string{header} + "\n" +
                R"({"task":"a","more":[{}],"event":"RunStart","until":7,"reason":"cron",)"
                R"("scheduled":null,"at":"2025-03-09T07:58:00+01:00"})"),
      std::string{header} + "\n" +
          R"({"at":"2025-03-09T06:58:00.000Z","event":"RunStart","task":"a","reason":"cron"})" +
          "\n");
}

struct Malformed {
  std::size_t line;
  std::string reason;
};

Malformed malformed(const std::string& text) {
  try {
    (void)rewritten(text);
  } catch (const MalformedTrace& error) {
    return {error.line(), error.what()};
  }
  return {0, "is not malformed"};
}

TEST(TraceLines, report_a_malformed_header) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "there is no header"},
      {R"({"zone":"UTC"})", "the header has no \"trace\":\"dutiful/1\""},
      {R"({"trace":"dutiful/2","zone":"UTC"})", "the header has no \"trace\":\"dutiful/1\""},
      {R"({"trace":"dutiful/1"})", "the header names no zone"},
      {R"({"trace":"dutiful/1","zone":"UTC","maxConcurrent":-1})", "maxConcurrent is -1, below 0"},
      {R"({"trace":"dutiful/1","zone":"UTC","policies":{"override":"keep"}})",
       "unknown policy \"keep\"; there are \"keep_history\" and \"reset_history\""}};
  for (const auto& [text, reason] : cases) {
    EXPECT_EQ(malformed(text).line, 1U) << text;
    EXPECT_EQ(malformed(text).reason, reason) << text;
  }
}

TEST(TraceLines, report_a_malformed_event) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"event":"Crash"})", "the field \"at\" is missing"},
      {R"({"at":"yesterday","event":"Crash"})",
       "the field \"at\" is \"yesterday\", which is not an instant like 2025-03-09T06:58:00.000Z"},
      {R"({"at":"2025-03-09T06:58:00.000","event":"Crash"})",
       "the field \"at\" is \"2025-03-09T06:58:00.000\", which is not an instant like "
       "2025-03-09T06:58:00.000Z"},
      {R"({"at":"2025-03-09T06:58:00.000Z"})", "the field \"event\" is missing"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"runstart"})", "unknown event \"runstart\""},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"RunSuccess"})",
       "the field \"task\" is missing"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"RunSuccess","task":1})",
       "the field \"task\" is not a string"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"RunStart","task":"a"})",
       "the field \"reason\" is missing"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"Freeze"})", "the field \"until\" is missing"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"InitStart","registrations":[["a","b"]]})",
       "a registration has 2 elements instead of 3: name, cron, retry delay in ms"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"InitStart","registrations":5})",
       "bad JSON at column 70: a list was expected instead of \"5\""},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"Outage"})", "the field \"until\" is missing"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"RunInterrupted"})",
       "the field \"task\" is missing"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"RunInterrupted","task":"a","ended":)"
       R"("2025-03-09T06:58:00.001Z"})",
       "the field \"ended\" is 2025-03-09T06:58:00.001Z, after the end's own "
       "2025-03-09T06:58:00.000Z"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"RunSuccess","task":"a","fence":-1})",
       "the field \"fence\" is -1, below 0"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"Crash","member":1})",
       "the field \"member\" is not a string"},
      {R"({"at":"2025-03-09T06:58:00.000Z","event":"Crash","member":""})",
       "the field \"member\" is empty"},
      {"", "bad JSON at column 1: an object was expected instead of the end of the line"}};
  for (const auto& [text, reason] : cases) {
    const std::string trace = std::string{header} + "\n" + text + "\n";
    EXPECT_EQ(malformed(trace).line, 2U) << text;
    EXPECT_EQ(malformed(trace).reason, reason) << text;
  }
}

TEST(TraceLines, must_be_in_time_order) {
  const std::string trace = std::string{header} + "\n" +
                            R"({"at":"2025-03-09T06:58:00.000Z","event":"Crash"})" + "\n" +
                            R"({"at":"2025-03-09T06:57:59.999Z","event":"Crash"})" + "\n";
  EXPECT_EQ(malformed(trace).line, 3U);
  EXPECT_EQ(malformed(trace).reason,
            "it is from 2025-03-09T06:57:59.999Z, before the line above "
            "(2025-03-09T06:58:00.000Z)");
}

}  // namespace
}  // namespace dutiful
