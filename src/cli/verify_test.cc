// dutiful verify with one trace, and with those of several members (RULES N11).

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/program_in_test.h"
#include "support/temporary_directory.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const TracedRegistration hourly{"a", "0 * * * *", std::chrono::minutes{5}};

Instant today(const std::string& time) {
  return at("2025-03-03T" + time + "Z");
}

class VerifyTest : public testing::Test {
 protected:
  // Writes the trace of a member, by default with the name of its file.
  class Trace {
   public:
    explicit Trace(std::string file, std::string member, const TraceHeader& header)
        : out_(file), path_(std::move(file)), member_(std::move(member)) {
      out_ << to_line(header) << std::endl;
    }
    Trace& on(const std::string& time, const TraceEvent& event) { return on(time, event, member_); }
    Trace& on(const std::string& time, const TraceEvent& event, const std::string& member) {
      out_ << to_line(today(time), event, member) << std::endl;
      return *this;
    }
    Trace& join(const std::string& time) {
      return on(time, InitStart{{hourly}}).on(time, InitSuccess{});
    }
    [[nodiscard]] const std::string& path() const { return path_; }

   private:
    std::ofstream out_;
    std::string path_;
    std::string member_;
  };

  Trace trace(const std::string& name, const TraceHeader& header = {.zone = "UTC"}) {
    return Trace{directory_.file(name), name, header};
  }
  Trace trace_of_one_machine(const std::string& name) {
    return Trace{directory_.file(name), "", {.zone = "UTC"}};
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(VerifyTest, does_not_name_a_single_file) {
  Trace one = trace_of_one_machine("one");
  one.join("00:30:00").on("00:40:00", RunStart{"a", "cron"});
  const auto result = dutiful({"verify", one.path()});
  EXPECT_THAT(result.out, StartsWith("S1 violated at line 4 (2025-03-03T00:40:00.000Z): "));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(dutiful({"verify", "--json", one.path()}).out, Not(HasSubstr("\"file\"")));
}

// N11
TEST_F(VerifyTest, judges_the_traces_of_a_cluster_together) {
  Trace m1 = trace("m1");
  Trace m2 = trace("m2");
  m1.join("00:30:00").on("01:00:00", RunStart{"a", "cron", 1}).on("01:10:00", StopStart{});
  m1.on("01:20:00", RunSuccess{"a", {}, 1}).on("01:20:00", StopEnd{});
  m2.join("00:31:00").on("02:00:00", RunStart{"a", "cron", 2});
  EXPECT_EQ(dutiful({"verify", m1.path(), m2.path()}).out, "conforms\n");
  EXPECT_EQ(dutiful({"verify", m2.path(), m1.path()}).out, "conforms\n");
  EXPECT_THAT(dutiful({"verify", m1.path(), m2.path(), "--json"}).out, HasSubstr("\"events\":9"));
  // Alone, neither is the whole truth.
  EXPECT_THAT(dutiful({"verify", m2.path()}).out, StartsWith("L1 violated at line 4 "));
}

// N5, N11
TEST_F(VerifyTest, finds_two_runs_of_one_task_on_two_members) {
  Trace m1 = trace("m1");
  Trace m2 = trace("m2");
  m1.join("00:30:00").on("01:00:00", RunStart{"a", "cron", 1});
  m1.on("01:20:00", RunInterrupted{"a", today("01:15:00"), 1});
  m2.join("00:31:00").on("01:10:00", Crash{}, "m1").on("01:10:01", RunStart{"a", "orphan", 2});

  const auto result = dutiful({"verify", m1.path(), m2.path()});
  EXPECT_EQ(result.out,
            "N5 violated at " + m1.path() +
                " line 5 (2025-03-03T01:20:00.000Z): \"a\" ran twice at once: on member \"m1\" "
                "from 2025-03-03T01:00:00.000Z to 2025-03-03T01:15:00.000Z, and on member \"m2\" "
                "from 2025-03-03T01:10:01.000Z\n");
  EXPECT_EQ(result.status, 1);
  const auto json = nlohmann::json::parse(dutiful({"verify", "--json", m1.path(), m2.path()}).out);
  EXPECT_EQ(json["violations"][0]["axiom"], "N5");
  EXPECT_EQ(json["violations"][0]["file"], m1.path());
  EXPECT_EQ(json["violations"][0]["line"], 5);
  EXPECT_EQ(json["violations"][0]["blame"], "scheduler");
}

// N11, P8: clocks that differ by less than a second are no violation.
TEST_F(VerifyTest, forgives_clocks_that_differ_a_little) {
  Trace m1 = trace("m1");
  Trace m2 = trace("m2");
  m1.join("00:30:00").on("01:00:00", RunStart{"a", "cron", 1});
  m1.on("02:00:00.900", RunSuccess{"a", {}, 1});
  m2.join("00:31:00").on("02:00:00.100", RunStart{"a", "cron", 2});
  EXPECT_EQ(dutiful({"verify", m1.path(), m2.path()}).out, "conforms\n");
}

TEST_F(VerifyTest, names_the_file_of_a_refused_list) {
  Trace m1 = trace("m1");
  Trace m2 = trace("m2");
  m1.join("00:30:00");
  m2.on("00:31:00", InitStart{{hourly}});
  m2.on("00:31:00", InitFailure{"StoreError", RefusalCause::environment});
  EXPECT_EQ(dutiful({"verify", m1.path(), m2.path()}).out,
            "conforms\nthe environment refused an initialize at " + m2.path() +
                " line 3 (2025-03-03T00:31:00.000Z): StoreError\n");
  const auto json = nlohmann::json::parse(dutiful({"verify", "--json", m1.path(), m2.path()}).out);
  EXPECT_EQ(json["refused"][0]["file"], m2.path());
}

TEST_F(VerifyTest, requires_members_in_several_traces) {
  Trace m1 = trace("m1");
  Trace other = trace_of_one_machine("other");
  m1.join("00:30:00");
  other.join("00:31:00");
  const auto result = dutiful({"verify", m1.path(), other.path()});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out,
            "malformed at " + other.path() +
                " line 2: the field \"member\" is missing, which every event of a cluster has\n");
  const auto json =
      nlohmann::json::parse(dutiful({"verify", "--json", m1.path(), other.path()}).out);
  EXPECT_EQ(json["verdict"], "malformed");
  EXPECT_EQ(json["file"], other.path());
  EXPECT_EQ(json["line"], 2);
}

TEST_F(VerifyTest, names_the_file_of_a_malformed_header) {
  Trace m1 = trace("m1");
  Trace m2 = trace("m2");
  std::ofstream{m2.path()} << "{}\n";
  EXPECT_THAT(dutiful({"verify", m1.path(), m2.path()}).out,
              StartsWith("malformed at " + m2.path() + " line 1: "));
}

TEST_F(VerifyTest, requires_the_same_settings_in_every_trace) {
  const Trace m1 = trace("m1");
  for (const auto& [header, problem] :
       {std::pair{TraceHeader{.zone = "Europe/Berlin"},
                  std::pair{"zone", R"(is "UTC", that of FILE is "Europe/Berlin")"}},
        std::pair{TraceHeader{.zone = "UTC", .override = Override::reset_history},
                  std::pair{"policy override", "is keep_history, that of FILE is reset_history"}},
        std::pair{TraceHeader{.zone = "UTC", .max_concurrent = 3},
                  std::pair{"maxConcurrent", "is 0, that of FILE is 3"}}}) {
    const Trace m2 = trace("m2", header);
    std::string details = problem.second;
    details.replace(details.find("FILE"), 4, m2.path());
    const auto result = dutiful({"verify", m1.path(), m2.path()});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err,
              std::string{"dutiful: the traces are not of one cluster: the "} + problem.first +
                  " of " + m1.path() + ' ' + details + '\n');
  }
  const Trace same = trace("m3", {.zone = "UTC", .override = Override::keep_history});
  EXPECT_EQ(dutiful({"verify", m1.path(), same.path()}).out, "conforms\n");
}

TEST_F(VerifyTest, rejects_a_trace_that_is_given_twice) {
  const Trace m1 = trace("m1");
  const auto result = dutiful({"verify", m1.path(), m1.path()});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, EndsWith("m1 is given twice; give each trace once\n"));
  EXPECT_THAT(dutiful({"verify", "-", "-"}).err, HasSubstr("standard input is given twice"));
}

TEST_F(VerifyTest, requires_a_trace) {
  EXPECT_EQ(dutiful({"verify"}).err,
            "dutiful: missing argument TRACE; see dutiful verify --help\n");
  EXPECT_THAT(dutiful({"verify", "--help"}).out,
              StartsWith("Usage: dutiful verify [OPTIONS] TRACE...\n"));
}

}  // namespace
}  // namespace dutiful
