// dutiful run: the policies of the older seeds (RULES T4, P2).

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "commands/run_in_test.h"

namespace dutiful {
namespace {

using testing::HasSubstr;
using testing::Not;

// TZ of a zone in which the clocks were set back an hour some minutes ago, so that this minute
// occurs for the second time, and will for half an hour yet.
std::string zone_of_repeated_minutes() {
  using namespace std::chrono;
  const auto rule = [](system_clock::time_point local) {
    const std::time_t time = system_clock::to_time_t(local);
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 6> time_of_day{};
    std::strftime(time_of_day.data(), time_of_day.size(), "%H:%M", &parts);
    return std::to_string(parts.tm_yday) + '/' + time_of_day.data();
  };
  const auto now = system_clock::now();
  // The end is told in daylight time, an hour ahead.
  return "AAA0BBB," + rule(now - days{40}) + ',' + rule(now - minutes{30} + hours{1});
}

TEST_F(DutifulRun, T4_runs_a_repeated_minute_the_second_time_too) {
  const std::string trace = directory.file("trace");
  write(task("a", "true"));
  Process daemon{arguments({"--trace", trace}), {{"TZ", zone_of_repeated_minutes()}}};
  daemon.await("TaskRunStarted", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  EXPECT_THAT(contents(trace), HasSubstr("\"repeatedMinutes\":\"both\""));
}

TEST_F(DutifulRun, T4_runs_a_repeated_minute_the_first_time_only_if_asked) {
  const Process::Variables zone{{"TZ", zone_of_repeated_minutes()}};
  const std::string trace = directory.file("trace");
  write(task("a", "true"));
  Process daemon{arguments({"--repeated", "first_only", "--trace", trace}), zone};
  daemon.await("TaskFileLoaded");
  daemon.signal(SIGHUP);  // what the first list starts is told before the second is loaded
  daemon.await("TaskFileLoaded");
  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, Not(HasSubstr("TaskRunStarted")));
  EXPECT_THAT(contents(trace), HasSubstr("\"repeatedMinutes\":\"first_only\""));

  const auto next_due = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"status", "--json", "--state", state});
    return nlohmann::json::parse(Process{more, zone}.end().out)[0]["nextDueAt"].get<std::string>();
  };
  EXPECT_LT(next_due({}), next_due({"--repeated", "first_only"}));
}

TEST_F(DutifulRun, P2_a_changed_task_starts_over_if_asked) {
  const std::string trace = directory.file("trace");
  write(task("a", "true"));
  Process daemon{arguments({"--override", "reset_history", "--trace", trace})};
  daemon.await("TaskRunCompleted", "a");

  // The same minutes in another text (P3). As a new task it runs at once (K4), though it has just
  // run.
  std::string changed = task("a", "true");
  write(changed.replace(changed.find("* * * * *"), 9, "*  * * * *"));
  daemon.signal(SIGHUP);
  daemon.await("TaskOverridden", "a");
  daemon.await("TaskRunCompleted", "a");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  const auto runs = nlohmann::json::parse(run_to_end({"history", "--state", state, "--json"}).out);
  EXPECT_EQ(std::ranges::count_if(runs, [](const auto& run) { return run["reason"] == "boot"; }),
            2);
  EXPECT_THAT(contents(trace), HasSubstr("\"override\":\"reset_history\""));
  EXPECT_THAT(run_to_end({"verify", trace}).out, HasSubstr("conforms"));
}

TEST_F(DutifulRun, knows_no_other_policies) {
  write("");
  EXPECT_THAT(run_to_end(arguments({"--repeated", "twice"})).err,
              HasSubstr("write --repeated both|first_only"));
  EXPECT_THAT(run_to_end(arguments({"--override", "never"})).err,
              HasSubstr("write --override keep_history|reset_history"));
}

}  // namespace
}  // namespace dutiful
