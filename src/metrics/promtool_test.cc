// The page is what Prometheus' own tool accepts, without a complaint.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "metrics/metrics_in_test.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

class Promtool : public testing::Test {
 protected:
  // What `promtool check metrics` says about a page. Empty: nothing.
  std::string check(const std::string& page) { return run("metrics <", page).output; }

  struct Result {
    int status;
    std::string output;
  };
  // Runs `promtool check` with these arguments and the name of a file with this text.
  Result run(const std::string& arguments, const std::string& text) {
    const TemporaryDirectory directory;
    const std::string in = directory.file("in");
    const std::string out = directory.file("out");
    std::ofstream{in} << text;
    const std::string command = DUTIFUL_PROMTOOL " check " + arguments + in + " >" + out + " 2>&1";
    // NOLINTNEXTLINE(cert-env33-c): the paths are ours.
    const int status = std::system(command.c_str());
    std::ifstream file{out};
    return {status, {std::istreambuf_iterator<char>{file}, {}}};
  }
};

TEST_F(Promtool, complains_about_a_page_that_is_wrong) {
  EXPECT_THAT(check("# TYPE runs counter\nruns 1\n"), testing::HasSubstr("_total"));
  EXPECT_NE(check("runs{task=\"a\nb\"} 1\n"), "");
  EXPECT_NE(
      run("rules ", R"({"groups":[{"name":"x","rules":[{"record":"x","expr":"sum("}]}]})").status,
      0);
}

TEST_F(Promtool, accepts_a_page_without_tasks) {
  EXPECT_EQ(check(Observed{}.page()), "");
}

TEST_F(Promtool, accepts_a_page_with_everything_and_nasty_names) {
  Observed daemon{20};
  daemon.load({"a",
               "a b",
               R"(quo"te)",
               R"(back\slash)",
               R"(ends with \)",
               "line\nbreak",
               "\"} 1\ndutiful_tasks_failing 7\n",
               "# TYPE dutiful_tasks counter",
               "tab\tand\rreturn",
               "\x1b[2Jscreen",
               std::string{"nul\0byte", 8},
               "größe 日本 😀",
               "right\u202eto left",
               "not UTF-8 \xff\xc3",
               "not UTF-8 \xc0\xaf",
               "not UTF-8 \xed\xa0\x80",
               "{}",
               "=,=",
               std::string(4000, 'x'),
               R"(not UTF-8 \xff\xc3)",
               "z, without series",
               "zz, without series"});
  for (const TaskStatus& task : daemon.input.status.tasks) {
    const std::string name{task.name};
    daemon.add(event::TaskRunStarted{
        .task = name, .scheduled = Observed::noon, .actual = Observed::noon + 3s});
    daemon.add(event::TaskRunCompleted{.task = name, .duration = 1500ms});
  }
  for (TaskStatus& task : daemon.input.status.tasks) {
    task.last_success = task.next_pulse = task.overdue_since = Observed::noon;
  }
  daemon.add(event::StoreCommitted{.tasks = 3, .duration = 4ms});
  daemon.input.process = read_process_usage();
  daemon.input.version = "1.2.3";

  EXPECT_EQ(check(daemon.page()), "");
}

// Replaces the variables that Grafana replaces.
std::string with_values(std::string query) {
  for (const auto& [variable, value] :
       {std::pair{"$__rate_interval", "5m"}, std::pair{"$__range", "6h"}}) {
    const std::string name = variable;
    for (std::size_t at = 0; (at = query.find(name)) != std::string::npos;) {
      query.replace(at, name.size(), value);
    }
  }
  return query;
}

TEST_F(Promtool, accepts_every_query_of_the_dashboard) {
  std::ifstream file{std::string{DUTIFUL_TEST_DATA} + "/../../packaging/grafana/dutiful.json"};
  const auto dashboard = nlohmann::json::parse(file);
  EXPECT_EQ(dashboard["uid"], "dutiful");
  const nlohmann::json source{{"type", "prometheus"}, {"uid", "${datasource}"}};

  auto rules = nlohmann::json::array();
  std::set<int> ids;
  for (const auto& panel : dashboard["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["title"];
    if (panel["type"] == "row") continue;
    EXPECT_EQ(panel["datasource"], source) << panel["title"];
    EXPECT_FALSE(panel["targets"].empty()) << panel["title"];
    for (const auto& target : panel["targets"]) {
      EXPECT_EQ(target["datasource"], source) << panel["title"];
      rules.push_back({{"record", "query" + std::to_string(rules.size())},
                       {"expr", with_values(target["expr"].get<std::string>())}});
    }
  }
  const nlohmann::json groups{{"groups", {{{"name", "dashboard"}, {"rules", rules}}}}};
  const Result result = run("rules ", groups.dump());
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_GT(rules.size(), 20);
}

}  // namespace
}  // namespace dutiful
