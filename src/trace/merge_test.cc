#include "trace/merge.h"

#include <memory>
#include <sstream>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

// The traces of members, written event by event, and the merged trace as text.
class Traces {
 public:
  explicit Traces(std::size_t members) : texts_(members, to_line(TraceHeader{.zone = "UTC"})) {}

  Traces& on(std::size_t member, const std::string& time, const TraceEvent& event) {
    texts_.at(member) +=
        '\n' + to_line(at("2025-03-03T12:" + time + "Z"), event, "m" + std::to_string(member));
    return *this;
  }
  Traces& add(std::size_t member, const std::string& line) {
    texts_.at(member) += '\n' + line;
    return *this;
  }

  // Each event as `00.100 m0 RunStart a 1`, followed by its line.
  [[nodiscard]] std::string merged() const {
    std::vector<std::istringstream> inputs;
    for (const std::string& text : texts_) inputs.emplace_back(text);
    std::vector<std::unique_ptr<TraceReader>> readers;
    std::vector<TraceReader*> pointers;
    for (std::istringstream& input : inputs) {
      readers.push_back(std::make_unique<TraceReader>(input));
      pointers.push_back(readers.back().get());
    }
    TraceMerge merge{pointers};
    std::string out;
    try {
      for (TracedEvent event; merge.read(event);) out += text(event) + text(merge);
    } catch (const MalformedTrace& error) {
      out += "malformed at " + std::to_string(merge.trace()) + ':' + std::to_string(error.line()) +
             ": " + error.what();
    }
    return out;
  }

 private:
  static std::string text(const TracedEvent& event) {
    const std::string line = to_line(event.at, event.event, event.member);
    const auto value = [&line](const std::string& key) -> std::string {
      const std::size_t begin = line.find('"' + key + "\":");
      if (begin == std::string::npos) return "";
      std::string rest = line.substr(begin + key.size() + 3);
      if (rest.front() == '"') return ' ' + rest.substr(1, rest.find('"', 1) - 1);
      return ' ' + rest.substr(0, rest.find_first_of(",}"));
    };
    return value("at").substr(18, 6) + value("member") + value("event") + value("task") +
           value("fence");
  }
  static std::string text(const TraceMerge& merge) {
    return " (" + std::to_string(merge.trace()) + ':' + std::to_string(merge.line()) + ")\n";
  }

  std::vector<std::string> texts_;
};

TEST(TraceMerge, merges_by_time) {
  Traces traces{3};
  traces.on(0, "00:01", StopStart{}).on(0, "00:04", StopEnd{});
  traces.on(2, "00:02", StopStart{}).on(2, "00:03", StopEnd{});
  EXPECT_EQ(traces.merged(),
            "01.000 m0 StopStart (0:2)\n"
            "02.000 m2 StopStart (2:2)\n"
            "03.000 m2 StopEnd (2:3)\n"
            "04.000 m0 StopEnd (0:3)\n");
}

TEST(TraceMerge, puts_ends_first_and_starts_last_at_one_instant) {
  Traces traces{4};
  traces.on(0, "00:01", RunStart{"a", "cron"});
  traces.on(1, "00:01", InitStart{});
  traces.on(2, "00:01", Crash{});
  traces.on(3, "00:01", RunSuccess{"a"});
  EXPECT_EQ(traces.merged(),
            "01.000 m2 Crash (2:2)\n"
            "01.000 m3 RunSuccess a (3:2)\n"
            "01.000 m1 InitStart (1:2)\n"
            "01.000 m0 RunStart a (0:2)\n");
}

// N11, P8: the fences of a task show the order of its runs if the clocks do not.
TEST(TraceMerge, keeps_the_runs_of_a_task_in_the_order_of_their_fences) {
  Traces traces{2};
  traces.on(0, "00:00", RunStart{"a", "cron", 1}).on(0, "05:00.300", RunSuccess{"a", {}, 1});
  traces.on(1, "05:00.100", RunStart{"a", "cron", 2});
  EXPECT_EQ(traces.merged(),
            "00.000 m0 RunStart a 1 (0:2)\n"
            "00.100 m0 RunSuccess a 1 (0:3)\n"
            "00.100 m1 RunStart a 2 (1:2)\n");
}

// A decider that records the end of a run elsewhere may have a clock that is behind.
TEST(TraceMerge, puts_the_start_of_a_run_before_its_end) {
  Traces traces{2};
  traces.on(0, "00:00.500", RunStart{"a", "cron", 1});
  traces.on(1, "00:00.200", RunSuccess{"a", {}, 1});
  EXPECT_EQ(traces.merged(),
            "00.200 m0 RunStart a 1 (0:2)\n"
            "00.200 m1 RunSuccess a 1 (1:2)\n");
}

TEST(TraceMerge, keeps_the_order_within_each_trace) {
  Traces traces{2};
  traces.on(0, "00:00.200", InitSuccess{}).on(0, "00:00.300", RunStart{"a", "cron", 1});
  traces.on(0, "00:00.400", RunSuccess{"a", {}, 1}).on(0, "00:00.500", StopStart{});
  traces.on(1, "00:00.100", RunStart{"a", "cron", 2}).on(1, "00:00.110", StopStart{});
  EXPECT_EQ(traces.merged(),
            "00.100 m0 InitSuccess (0:2)\n"
            "00.100 m0 RunStart a 1 (0:3)\n"
            "00.100 m0 RunSuccess a 1 (0:4)\n"
            "00.100 m1 RunStart a 2 (1:2)\n"
            "00.110 m1 StopStart (1:3)\n"
            "00.500 m0 StopStart (0:5)\n");
}

TEST(TraceMerge, trusts_the_clocks_beyond_a_second) {
  Traces traces{2};
  traces.on(0, "00:00", RunStart{"a", "cron", 1}).on(0, "05:01.101", RunSuccess{"a", {}, 1});
  traces.on(1, "05:00.100", RunStart{"a", "cron", 2});
  EXPECT_EQ(traces.merged(),
            "00.000 m0 RunStart a 1 (0:2)\n"
            "00.100 m1 RunStart a 2 (1:2)\n"
            "01.101 m0 RunSuccess a 1 (0:3)\n");
}

TEST(TraceMerge, does_not_compare_the_fences_of_different_tasks) {
  Traces traces{2};
  traces.on(0, "00:00.200", RunStart{"a", "cron", 1});
  traces.on(1, "00:00.100", RunStart{"b", "cron", 2}).on(1, "00:00.150", RunSuccess{"a"});
  EXPECT_EQ(traces.merged(),
            "00.100 m1 RunStart b 2 (1:2)\n"
            "00.150 m1 RunSuccess a (1:3)\n"
            "00.200 m0 RunStart a 1 (0:2)\n");
}

TEST(TraceMerge, survives_fences_that_contradict_the_traces) {
  Traces traces{2};
  traces.on(0, "00:00.100", RunStart{"a", "cron", 2}).on(0, "00:00.200", RunStart{"b", "cron", 1});
  traces.on(1, "00:00.100", RunStart{"b", "cron", 2}).on(1, "00:00.200", RunStart{"a", "cron", 1});
  EXPECT_EQ(traces.merged(),
            "00.100 m0 RunStart a 2 (0:2)\n"
            "00.100 m0 RunStart b 1 (0:3)\n"
            "00.100 m1 RunStart b 2 (1:2)\n"
            "00.200 m1 RunStart a 1 (1:3)\n");
}

// N11
TEST(TraceMerge, requires_a_member_for_every_event) {
  Traces traces{2};
  traces.on(0, "00:00", Crash{}).on(1, "00:00", Crash{});
  traces.add(1, R"({"at":"2025-03-03T12:00:09.000Z","event":"Crash"})");
  EXPECT_EQ(traces.merged(),
            "00.000 m0 Crash (0:2)\n"
            "00.000 m1 Crash (1:2)\n"
            "malformed at 1:3: the field \"member\" is missing, which every event of a cluster "
            "has");
}

TEST(TraceMerge, says_which_trace_is_malformed) {
  Traces traces{3};
  traces.on(0, "00:00", Crash{}).add(1, "{}");
  EXPECT_EQ(traces.merged(), "malformed at 1:2: the field \"at\" is missing");
}

}  // namespace
}  // namespace dutiful
