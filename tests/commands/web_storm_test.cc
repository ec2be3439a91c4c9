// dutiful run --listen: nothing that clients do delays, stops or bloats the daemon.

#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "commands/web_in_test.h"

namespace dutiful {
namespace {

using testing::StartsWith;

std::size_t descriptors_of(pid_t process) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{"/proc/" + std::to_string(process) + "/fd"}) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

// The most memory that the process has used, in KiB.
[[maybe_unused]] long memory_of(pid_t process) {
  std::ifstream status{"/proc/" + std::to_string(process) + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return 0;
}

// One client that misbehaves in a way that the number chooses.
void misbehave(const WebClient& web, unsigned number, std::vector<http::Client>& open) {
  const bool is_small = number % 2 == 0;
  http::Client client =
      web.connect(is_small ? http::Client::Buffers::small : http::Client::Buffers::usual);
  // It does not wait until the server has read everything, which it may never do.
  const timeval moment{.tv_sec = 0, .tv_usec = 1'000};
  setsockopt(client.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
  switch (number % 10) {
    case 0:  // says nothing
      break;
    case 1:
      client.send("GET /api/v1/tasks HTTP/1.1\r\nHost: loc");
      break;
    case 2:  // reads no answer
      client.get("/api/v1/tasks");
      break;
    case 3:
      client.get("/metrics");
      client.get("/metrics");
      client.get("/metrics");
      break;
    case 4:
      client.get("/" + std::string(1'000'000, 'x'));
      break;
    case 5:
      client.get("/", "X: " + std::string(1'000'000, 'x') + "\r\n");
      break;
    case 6:
      client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n" +
                  std::string(1'000'000, 'x'));
      break;
    case 7:
      client.get("/api/v1/events");
      break;
    case 8:
      client.get("/api/v1/account");
      break;
    default:
      client.send(std::string(100'000, '\r') + std::string(1'000, '\0'));
  }
  open.push_back(std::move(client));
}

TEST_F(DutifulWeb, runs_a_thousand_tasks_in_a_storm_of_requests) {
  constexpr int tasks = 1'000;
  std::string text;
  for (int i = 0; i < tasks; ++i) text += task(std::to_string(i), "true");
  write(text);
  const std::string trace = directory.file("trace");
  Process daemon{listening({"--trace", trace, "--verify"})};
  const WebClient web = web_of(daemon);

  // Most clients stay until all tasks have run.
  std::latch all_ran{1};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&web, &all_ran, thread] {
      std::vector<http::Client> open;
      for (unsigned i = 0; i < 100; ++i) {
        if (open.size() == 60) open.erase(open.begin(), open.begin() + 20);
        misbehave(web, 7 * thread + i, open);
      }
      all_ran.wait();
    });
  }
  for (int ran = 0; ran < tasks; ++ran) daemon.await("TaskRunCompleted");
#ifdef DUTIFUL_PLAIN_BUILD
  EXPECT_LT(memory_of(daemon.id()), 200 * 1024);
#endif
  // Connections, the runs that another minute has started, and files.
  EXPECT_LT(descriptors_of(daemon.id()), 128 + 64 * 4 + 100);
  all_ran.count_down();
  for (std::thread& thread : threads) thread.join();

  // It has survived: whoever comes now is served.
  Answer answer;
  do {
    answer = web.get("/api/v1/tasks");
  } while (answer.status == 0);  // until those that have left are gone
  EXPECT_EQ(answer.json()["tasks"].size(), tasks);
  EXPECT_EQ(web.get("/readyz").status, 200);

  daemon.signal(SIGTERM);
  const Ended ended = daemon.end();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.out.find("TheoryViolated"), std::string::npos);
  EXPECT_THAT(run_to_end({"verify", trace}).out, StartsWith("conforms"));
}

}  // namespace
}  // namespace dutiful
