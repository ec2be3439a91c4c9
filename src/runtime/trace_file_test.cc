#include "runtime/trace_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dutiful/errors.h>

#include "support/disk_faults.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Instant noon = at("2025-03-03T12:00:00Z");
const Instant one = at("2025-03-03T13:00:00Z");
const TracedRegistration hourly{"a", "0 * * * *", std::chrono::minutes{1}};

class TraceFileTest : public testing::Test {
 protected:
  std::unique_ptr<TraceFile> open(bool verify = false) {
    TraceListener listener{
        .failed = [this](const std::string& error) { errors.push_back(error); },
        .set_aside =
            [this](const TraceListener::SetAside& damaged) {
              set_aside.push_back(damaged.file.substr(damaged.file.rfind('/') + 1));
              errors.push_back(damaged.reason);
            }};
    if (verify) {
      listener.violated = [this](const theory::Violation& v) { violations.push_back(v.text()); };
      judgement = std::make_shared<JudgementBoard>();
      listener.judgement = judgement;
    }
    return std::make_unique<TraceFile>(file, TraceHeader{.zone = "UTC"}, Zone::utc(), listener);
  }

  static void run_hourly(TraceSink& trace) {
    trace.on(noon, InitStart{{hourly}});
    trace.on(noon, InitSuccess{});
    trace.on(noon, RunStart{"a", "boot"});
    trace.flush();
  }

  // The events of the file, as "12:00 InitStart".
  [[nodiscard]] std::vector<std::string> events() const {
    std::ifstream in{file};
    TraceReader reader{in};
    std::vector<std::string> names;
    for (TracedEvent event; reader.read(event);) {
      const std::string line = to_line(event.at, event.event);
      const auto begin = line.find("event\":\"") + 8;
      names.push_back(line.substr(18, 5) + ' ' + line.substr(begin, line.find('"', begin) - begin));
    }
    return names;
  }

  std::string refusal() {
    try {
      (void)open();
    } catch (const TraceError& error) {
      return error.what();
    }
    return "";
  }

  [[nodiscard]] std::string text(const std::string& more = "") const {
    std::ifstream in{file + more, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  // Writes zeros over that part of the file.
  void damage(std::size_t begin, std::size_t count) const {
    std::fstream out{file, std::ios::binary | std::ios::in | std::ios::out};
    out.seekp(static_cast<std::streamoff>(begin));
    out << std::string(count, '\0');
  }
  // Opens the trace, and expects that it is renamed and a new one begun.
  void expect_set_aside(const std::string& damaged_name, const std::string& reason) {
    const std::string before = text();
    const auto trace = open(true);
    EXPECT_FALSE(trace->wants_state());
    EXPECT_THAT(set_aside, ElementsAre(damaged_name));
    EXPECT_THAT(errors, ElementsAre(HasSubstr(reason)));
    EXPECT_EQ(text(damaged_name.substr(damaged_name.find(".damaged"))), before);
    run_hourly(*trace);
    EXPECT_EQ(events().size(), 3U);
  }

  TemporaryDirectory directory;
  std::string file = directory.file("trace.jsonl");
  std::vector<std::string> errors;
  std::vector<std::string> violations;
  std::shared_ptr<JudgementBoard> judgement;
  std::vector<std::string> set_aside;
};

TEST_F(TraceFileTest, continues_after_a_scheduler_stopped) {
  {
    const auto trace = open();
    run_hourly(*trace);
    trace->on(noon, RunSuccess{"a"});
    trace->on(noon, StopStart{});
    trace->on(noon, StopEnd{});
  }
  const auto trace = open();
  EXPECT_FALSE(trace->wants_state());
  trace->on(one, InitStart{{hourly}});
  trace->flush();
  EXPECT_THAT(events(),
              ElementsAre("12:00 InitStart",
                          "12:00 InitSuccess",
                          "12:00 RunStart",
                          "12:00 RunSuccess",
                          "12:00 StopStart",
                          "12:00 StopEnd",
                          "13:00 InitStart"));
}

TEST_F(TraceFileTest, adds_the_missing_events_and_the_crash) {
  run_hourly(*open());
  const auto trace = open();
  EXPECT_TRUE(trace->wants_state());
  trace->on(one, InitStart{{hourly}});
  trace->flush();
  EXPECT_EQ(events().size(), 3U);  // the rest waits for the state
  const DurableTask state{hourly, false, false, false, noon, noon + std::chrono::minutes{1}, {}};
  trace->recover(std::span{&state, 1});
  trace->on(one, InitSuccess{});
  trace->flush();
  EXPECT_FALSE(trace->wants_state());
  EXPECT_THAT(events(),
              ElementsAre("12:00 InitStart",
                          "12:00 InitSuccess",
                          "12:00 RunStart",
                          "12:01 RunSuccess",
                          "12:01 Crash",
                          "13:00 InitStart",
                          "13:00 InitSuccess"));
}

TEST_F(TraceFileTest, forgets_an_initialize_that_failed_before_it_read_the_state) {
  run_hourly(*open());
  const auto trace = open();
  trace->on(one, InitStart{{hourly}});
  trace->on(one, InitFailure{"StateHeldError"});
  trace->on(one, InitStart{{hourly}});
  trace->recover({});
  trace->flush();
  EXPECT_THAT(events(),
              ElementsAre("12:00 InitStart",
                          "12:00 InitSuccess",
                          "12:00 RunStart",
                          "12:00 Crash",
                          "13:00 InitStart"));
}

// H12: an initialize() that is rejected meanwhile takes back only its own InitStart.
TEST_F(TraceFileTest, keeps_the_initialize_that_goes_on_while_another_is_refused) {
  run_hourly(*open());
  const auto trace = open();
  trace->on(one, InitStart{{hourly}, 1});
  trace->on(one, InitStart{{hourly}, 2});
  trace->on(one, InitFailure{"SchedulerAlreadyActiveError", RefusalCause::list, 2});
  trace->recover({});
  trace->on(one, InitSuccess{1});
  trace->flush();
  EXPECT_THAT(events(),
              ElementsAre("12:00 InitStart",
                          "12:00 InitSuccess",
                          "12:00 RunStart",
                          "12:00 Crash",
                          "13:00 InitStart",
                          "13:00 InitSuccess"));
}

TEST_F(TraceFileTest, cuts_off_a_line_that_was_not_finished) {
  run_hourly(*open());
  std::ofstream{file, std::ios::app} << R"({"at":"2025-03-03T12:3)";
  const auto trace = open();
  trace->recover({});
  trace->flush();
  EXPECT_EQ(events().back(), "12:00 Crash");
}

TEST_F(TraceFileTest, begins_anew_if_not_even_the_header_was_finished) {
  std::ofstream{file} << R"({"trace":"dut)";
  run_hourly(*open());
  EXPECT_EQ(events().size(), 3U);
}

TEST_F(TraceFileTest, has_no_clock_that_is_set_back) {
  const auto trace = open();
  trace->on(one, InitStart{});
  trace->on(noon, InitSuccess{});
  trace->flush();
  EXPECT_THAT(events(), ElementsAre("13:00 InitStart", "13:00 InitSuccess"));
}

TEST_F(TraceFileTest, with_a_hole_is_set_aside) {
  run_hourly(*open());
  damage(text().find("InitSuccess"), 4);
  expect_set_aside("trace.jsonl.damaged-1", "is malformed at line 3: ");
}

TEST_F(TraceFileTest, without_its_first_sector_is_set_aside) {
  for (int times = 0; times < 5; ++times) {
    const auto trace = open();
    if (trace->wants_state()) trace->recover({});
    run_hourly(*trace);
  }
  damage(0, 512);
  expect_set_aside("trace.jsonl.damaged-1", "begins with zeros instead of its header");
}

TEST_F(TraceFileTest, of_zeros_alone_is_set_aside_and_none_is_replaced) {
  std::ofstream{file + ".damaged-1"} << "precious";
  std::ofstream{file} << std::string(300, '\0');
  expect_set_aside("trace.jsonl.damaged-2", "begins with zeros instead of its header");
  EXPECT_EQ(text(".damaged-1"), "precious");
}

// The most likely damage is to the last lines. Cutting them off would hide runs.
TEST_F(TraceFileTest, without_its_last_lines_is_set_aside) {
  run_hourly(*open());
  damage(text().find("RunStart"), text().size() - text().find("RunStart"));
  std::ofstream{file, std::ios::app} << std::string(5000, '\0');
  expect_set_aside("trace.jsonl.damaged-1", "ends with zeros instead of its last lines");
}

TEST_F(TraceFileTest, whose_header_is_damaged_is_set_aside) {
  run_hourly(*open());
  damage(text().find("UTC"), 3);
  expect_set_aside("trace.jsonl.damaged-1", "is malformed at line 1: ");
}

// It does not show which runs were owed, so the run that follows an interrupted one would seem a
// violation.
TEST_F(TraceFileTest, that_begins_after_a_damaged_one_is_not_judged) {
  run_hourly(*open());
  damage(text().find("InitSuccess"), 4);
  const auto trace = open(true);
  run_hourly(*trace);
  trace->on(one, RunStart{"a", "orphan"});
  EXPECT_TRUE(violations.empty());
  EXPECT_FALSE(judgement->read());
}

// The next start finds no damage.
TEST_F(TraceFileTest, that_is_set_aside_is_reported_even_if_no_other_can_begin) {
  run_hourly(*open());
  damage(text().find("InitSuccess"), 4);
  {
    const WriteFault full;
    EXPECT_THAT(refusal(), HasSubstr("cannot be written"));
  }
  EXPECT_THAT(set_aside, ElementsAre("trace.jsonl.damaged-1"));
}

TEST_F(TraceFileTest, that_cannot_be_set_aside_is_refused_as_it_is) {
  run_hourly(*open());
  damage(text().find("InitSuccess"), 4);
  const std::string before = text();
  for (int number = 1; number <= 1000; ++number) {
    std::ofstream{file + ".damaged-" + std::to_string(number)} << "";
  }
  EXPECT_THAT(refusal(), HasSubstr("is malformed at line 3: "));
  EXPECT_THAT(refusal(), HasSubstr("and cannot be renamed: File exists; use another file"));
  EXPECT_EQ(text(), before);
}

TEST_F(TraceFileTest, says_that_the_disk_is_full) {
  const WriteFault full;
  EXPECT_THAT(refusal(), HasSubstr("cannot be written"));
}

// X4: a path cannot forge a line.
TEST_F(TraceFileTest, shows_its_path_escaped_if_it_cannot_be_written) {
  file = directory.file("trace\nall is well");
  const auto trace = open();
  const WriteFault full;
  run_hourly(*trace);
  EXPECT_THAT(errors, ElementsAre(HasSubstr("trace\\nall is well\" cannot be written for now: ")));
}

TEST_F(TraceFileTest, judges_what_is_added_and_not_what_was_there) {
  {
    const auto trace = open();
    run_hourly(*trace);
    trace->on(noon, RunStart{"b", "cron"});
    trace->on(noon, RunSuccess{"b"});
    trace->on(noon, RunSuccess{"a"});
  }
  EXPECT_TRUE(violations.empty());
  const auto trace = open(true);
  EXPECT_TRUE(violations.empty());
  trace->recover({});
  trace->on(one, RunStart{"a", "cron"});
  EXPECT_THAT(violations, ElementsAre(HasSubstr("the scheduler is not active")));
  EXPECT_THAT(violations, ElementsAre(HasSubstr("S1 violated at line 9 ")));
}

TEST_F(TraceFileTest, is_judged_with_what_was_there) {
  {
    const auto trace = open();
    run_hourly(*trace);
    trace->on(noon, RunSuccess{"a"});
  }
  const auto trace = open(true);
  EXPECT_EQ(judgement->read()->events, 4U);
  EXPECT_EQ(judgement->read()->violations, 0U);
  trace->recover({});  // one more event, the crash
  trace->on(one, RunStart{"a", "cron"});
  trace->on(one, RunStart{"b", "cron"});
  const auto found = judgement->read();
  EXPECT_EQ(found->events, 7U);
  EXPECT_EQ(found->violations, violations.size());
  ASSERT_TRUE(found->first);
  EXPECT_EQ(found->first->axiom, "S1");
  EXPECT_EQ(found->first->line, 7);
}

}  // namespace
}  // namespace dutiful
