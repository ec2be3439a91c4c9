// Expected results that were computed independently of this project (tests/data/*.jsonl).

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <dutiful/calendar.h>

#include "cli/program.h"
#include "cron/diagnosis.h"
#include "support/mend.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

std::vector<nlohmann::json> read_lines(const std::string& name) {
  std::ifstream file{DUTIFUL_TEST_DATA "/" + name};
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

struct Result {
  Exit status;
  std::string out;
  std::string err;
};

Result dutiful(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  Console console{.out = out, .err = err, .now = [] { return Instant{}; }};
  const Exit status = run_program(arguments, console);
  return {status, out.str(), err.str()};
}

// C1, C2, C4, C5, T1-T5, as shown by the commands `next` and `prev`.
TEST(Oracle, next_and_prev_agree_on_every_case) {
  const auto cases = read_lines("next.jsonl");
  ASSERT_EQ(cases.size(), 600);

  for (const auto& expected : cases) {
    for (const std::string command : {"next", "prev"}) {
      const auto result = dutiful({command,
                                   "--from",
                                   expected["from"],
                                   "--count",
                                   std::to_string(expected["count"].get<int>()),
                                   "--zone",
                                   expected["zone"],
                                   "--repeated",
                                   expected["repeated"],
                                   "--",
                                   expected["expr"]});
      std::string lines;
      if (!expected.contains("error")) {
        for (const std::string line : expected[command]) lines += line + '\n';
      }
      EXPECT_EQ(result.out, lines) << command << ' ' << expected;
      EXPECT_EQ(result.status, expected.contains("error") ? Exit::no : Exit::done) << result.err;
      EXPECT_EQ(result.err.starts_with("dutiful: Failed to calculate next occurrence: "),
                expected.contains("error"))
          << result.err;
    }
  }
}

// T1-T5: the answers in these cases are consecutive pulses, and so are the results of a loop over
// next() after them.
TEST(Oracle, count_agrees_on_every_case) {
  for (const auto& expected : read_lines("next.jsonl")) {
    const auto cron = CronExpression::parse(expected["expr"].get<std::string>());
    const Calendar calendar{
        Zone::load(expected["zone"].get<std::string>()),
        expected["repeated"] == "both" ? RepeatedMinutes::both : RepeatedMinutes::first_only};
    if (expected.contains("error")) {
      EXPECT_EQ(calendar.count(cron, Instant::min(), Instant::max()), 0) << expected;
      continue;
    }
    std::vector<Instant> pulses;
    for (const std::string pulse : expected["prev"]) pulses.insert(pulses.begin(), at(pulse));
    for (const std::string pulse : expected["next"]) pulses.push_back(at(pulse));
    for (std::size_t first = 0; first < pulses.size(); ++first) {
      for (std::size_t last = first; last < pulses.size(); ++last) {
        EXPECT_EQ(calendar.count(cron, pulses[first], pulses[last]), last - first) << expected;
      }
    }
    std::int64_t walked = 0;
    for (auto next = calendar.find_next(cron, pulses.back()); next && walked < 500;
         next = calendar.find_next(cron, *next)) {
      ASSERT_EQ(calendar.count(cron, pulses.back(), *next), ++walked) << expected;
    }
  }
}

// C3, C6: the field at fault, and an equivalent with the same meaning.
TEST(Oracle, every_invalid_expression_is_rejected_for_its_reason) {
  const auto cases = read_lines("invalid.jsonl");
  ASSERT_EQ(cases.size(), 80);

  for (const auto& expected : cases) {
    const std::string text = expected["expr"];
    try {
      (void)CronExpression::parse(text);
      ADD_FAILURE() << "accepted: " << expected;
    } catch (const InvalidCronExpressionError& error) {
      EXPECT_EQ(error.field(), expected["field"]) << error.what();
      EXPECT_EQ(error.expression(), text);
      if (!expected.contains("equivalent")) continue;

      // The message ends with the equivalent of the field or of the whole expression.
      const auto& details = error.details();
      ASSERT_FALSE(details.equivalent.empty()) << error.what();
      EXPECT_TRUE(std::string{error.what()}.ends_with(' ' + details.equivalent)) << error.what();
      EXPECT_EQ(CronExpression::parse(mend(details)),
                CronExpression::parse(expected["equivalent"].get<std::string>()))
          << error.what();
    }
  }
}

// H1-H10: the verdict on every trace, the axioms, and the line of the violating event.
TEST(Oracle, verify_judges_every_trace) {
  const auto cases = read_lines("traces.jsonl");
  ASSERT_EQ(cases.size(), 60);

  const TemporaryDirectory directory;
  const std::string file = directory.file("trace.jsonl");
  for (const auto& expected : cases) {
    std::ofstream out{file};
    for (const std::string line : expected["lines"]) out << line << '\n';
    out.close();
    const auto result = dutiful({"verify", "--json", "--repeated", expected["repeated"], file});
    const auto verdict = nlohmann::json::parse(result.out);
    EXPECT_EQ(verdict["verdict"], expected["verdict"]) << expected["name"] << result.out;
    EXPECT_EQ(result.status,
              expected["verdict"] == "conforms"   ? Exit::done
              : expected["verdict"] == "violated" ? Exit::no
                                                  : Exit::usage);
    EXPECT_EQ(verdict.value("line", 0), expected.value("line", 0)) << result.out;

    // `S4|EA6` means that either is accepted.
    const auto lines = expected.value("at", nlohmann::json::object());
    std::set<std::string> found;
    for (const auto& violation : verdict["violations"]) {
      for (const std::string alternatives : expected["axioms"]) {
        const std::string axiom = violation["axiom"];
        if (('|' + alternatives + '|').find('|' + axiom + '|') == std::string::npos) continue;
        found.insert(alternatives);
        if (!lines.contains(axiom)) continue;
        EXPECT_EQ(violation["line"], lines[axiom]) << expected["name"] << result.out;
      }
    }
    EXPECT_EQ(found, expected["axioms"].get<std::set<std::string>>())
        << expected["name"] << result.out;
    EXPECT_EQ(expected["axioms"].empty(), verdict["violations"].empty()) << result.out;
  }
}

}  // namespace
}  // namespace dutiful
