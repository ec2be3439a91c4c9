#include "daemon/output_lines.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace dutiful {
namespace {

RunInfo run_of(const std::string& task, std::uint64_t fence) {
  return {.task = task,
          .reason = Reason::cron,
          .pulse = Instant{},
          .attempt = 1,
          .fence = fence,
          .started = Instant{}};
}

TEST(OutputLines, are_whole_however_they_were_written) {
  std::vector<std::string> lines;
  OutputLines output{[&](const std::string& task, std::string_view line) {
    lines.push_back(task + ':' + std::string{line});
  }};
  const RunInfo a = run_of("a", 1);
  output.add(a, "on");
  output.add(run_of("b", 2), "other\n");
  output.add(a, "e\n\ntw");
  output.add(run_of("a", 3), "of the next run\n");  // while a process of the first run still writes
  output.add(a, "o");
  output.finish(a);
  output.finish(a);
  EXPECT_EQ(lines,
            (std::vector<std::string>{"b:other", "a:one", "a:", "a:of the next run", "a:two"}));
}

TEST(OutputLines, are_split_if_they_never_end) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  OutputLines output{[&](const std::string&, std::string_view line) {
    ++count;
    bytes += line.size();
    EXPECT_LE(line.size(), 4096U);
  }};
  const RunInfo run = run_of("a", 1);
  for (int i = 0; i < 100; ++i) output.add(run, std::string(10'000, 'x'));
  output.finish(run);
  EXPECT_EQ(bytes, 1'000'000U);
  EXPECT_EQ(count, 245U);
}

}  // namespace
}  // namespace dutiful
