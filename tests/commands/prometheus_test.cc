// A real Prometheus scrapes a daemon.

#include <cstdlib>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/web_in_test.h"

namespace dutiful {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A process of Prometheus that is killed with the test.
class Prometheus {
 public:
  Prometheus(const std::string& config, const std::string& data, const std::string& log) {
    process_ = fork();
    if (process_ == 0) {
      const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      const std::string config_option = "--config.file=" + config;
      const std::string data_option = "--storage.tsdb.path=" + data;
      execl(DUTIFUL_PROMETHEUS,
            "prometheus",
            config_option.c_str(),
            data_option.c_str(),
            "--web.listen-address=127.0.0.1:0",
            "--log.format=json",
            nullptr);
      _exit(127);
    }
  }
  ~Prometheus() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

 private:
  pid_t process_;
};

class Scraped : public DutifulWeb {
 protected:
  // Repeats the call until it returns something. Prometheus reports nothing that could be awaited.
  template <typename Call>
  auto eventually(Call call) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
      if (auto result = call()) return *result;
      if (std::chrono::steady_clock::now() > until) {
        throw std::runtime_error("Prometheus: " + contents(log));
      }
      usleep(20'000);
    }
  }

  const std::string log = directory.file("prometheus.log");
};

TEST_F(Scraped, by_prometheus_with_the_token) {
  write(task("good", "true") + task("b\\\"a/d", "false") + idle_task("idle"));
  const std::string token = token_file(secret);
  Process daemon{listening({"--listen-token-file", token})};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunCompleted", "good");

  const std::string config = directory.file("prometheus.yml");
  std::ofstream{config} << "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                           "scrape_configs:\n"
                           "  - job_name: dutiful\n"
                           "    authorization: {credentials_file: '"
                        << token << "'}\n"
                        << "    static_configs: [{targets: ['" << web.address().to_string()
                        << "']}]\n";
  const Prometheus prometheus{config, directory.file("data"), log};
  const WebClient server{eventually([&]() -> std::optional<json> {
    const std::string text = contents(log);
    const std::string before = "\"address\":\"127.0.0.1:";
    std::size_t begin = text.find(before);
    // The first line has the port that it was asked for, the second the one that was chosen.
    while (begin != std::string::npos && text[begin + before.size()] == '0') {
      begin = text.find(before, begin + 1);
    }
    if (begin == std::string::npos) return std::nullopt;
    begin = text.find("127", begin);
    return json{{"address", text.substr(begin, text.find('"', begin) - begin)}};
  })};
  // The value of a metric that has been scraped.
  const auto value_of = [&](const std::string& query) {
    return eventually([&]() -> std::optional<std::string> {
      const Answer answer = server.get("/api/v1/query?query=" + percent_encoded(query));
      if (answer.status != 200) return std::nullopt;
      const json result = answer.json()["data"]["result"];
      if (result.empty()) return std::nullopt;
      return result[0]["value"][1].get<std::string>();
    });
  };
  // Before it is ready, Prometheus may have failed once.
  EXPECT_EQ(value_of("up{job=\"dutiful\"} == 1"), "1");
  EXPECT_EQ(value_of("sum(dutiful_tasks)"), "3");
  EXPECT_EQ(value_of("dutiful_tasks_failing"), "1");
  EXPECT_EQ(value_of("dutiful_task_failing{task=\"b\\\"a/d\"}"), "1");
  const json targets = server.get_json("/api/v1/targets")["data"]["activeTargets"];
  ASSERT_EQ(targets.size(), 1);
  EXPECT_EQ(targets[0]["lastError"], "");
}

TEST_F(Scraped, page_is_accepted_by_promtool) {
  write(impatient_task(
            "flaky",
            "test -e " + directory.file("x") + " || { : > " + directory.file("x") + "; exit 1; }") +
        task("line\\nbreak \\\"quoted\\\" größe", "false") + idle_task("idle"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunCompleted", "flaky");
  const std::string page = directory.file("page");
  std::ofstream{page} << web.get("/metrics").body;
  const std::string out = directory.file("out");
  const std::string command = DUTIFUL_PROMTOOL " check metrics < " + page + " > " + out + " 2>&1";
  // NOLINTNEXTLINE(cert-env33-c): the paths are ours.
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(contents(out), "");
}

}  // namespace
}  // namespace dutiful
