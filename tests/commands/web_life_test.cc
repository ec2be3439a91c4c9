// dutiful run --listen: probes, events, and the end of the daemon.

#include <memory>
#include <optional>
#include <thread>

#include "commands/web_in_test.h"

namespace dutiful {
namespace {

using nlohmann::json;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Asks until it is not ready, and returns why.
std::string reason_not_ready(const WebClient& web) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    const Answer answer = web.get("/readyz");
    if (answer.status == 503) return answer.body;
    EXPECT_EQ(answer.status, 200);
  }
  return "it stays ready";
}

struct ServerEvent {
  std::string id, name, data;
};

// A connection on which events arrive.
class EventReader {
 public:
  explicit EventReader(const WebClient& web, const std::string& last_id = {})
      : client_(web.connect()) {
    client_.get("/api/v1/events", last_id.empty() ? "" : "Last-Event-ID: " + last_id + "\r\n");
    // The stream is open when it says how soon to reconnect.
    EXPECT_TRUE(client_.read_until("retry: 2000\n\n"));
  }

  // The next event; nothing at the end of the stream.
  std::optional<ServerEvent> next() {
    while (true) {
      const std::string text = unchunked();
      const std::size_t at = text.find("id: ", read_);
      const std::size_t end = text.find("\n\n", std::min(at, text.size()));
      if (end != std::string::npos) {
        read_ = end + 2;
        const std::string event = text.substr(at, end - at);
        const auto field = [&](const std::string& name) {
          const std::size_t begin = event.find(name + ": ") + name.size() + 2;
          return event.substr(begin, event.find('\n', begin) - begin);
        };
        return ServerEvent{field("id"), field("event"), field("data")};
      }
      if (!client_.read_more()) return std::nullopt;
    }
  }
  std::vector<ServerEvent> next(std::size_t count) {
    std::vector<ServerEvent> events;
    while (events.size() < count) {
      auto event = next();
      if (!event) break;
      events.push_back(std::move(*event));
    }
    return events;
  }
  std::optional<ServerEvent> await(const std::string& name) {
    while (auto event = next()) {
      if (event->name == name) return event;
    }
    return std::nullopt;
  }
  // Waits for the end of the connection.
  void read_all() { client_.read_all(); }

 private:
  // The bodies of the complete chunks so far.
  [[nodiscard]] std::string unchunked() const {
    const std::string& all = client_.text();
    std::string body;
    std::size_t at = all.find("\r\n\r\n") + 4;
    while (true) {
      const std::size_t line = all.find("\r\n", at);
      if (line == std::string::npos) return body;
      const auto size = std::stoul(all.substr(at, line - at), nullptr, 16);
      if (size == 0 || line + 2 + size > all.size()) return body;
      body += all.substr(line + 2, size);
      at = line + 2 + size + 2;
      if (at > all.size()) return body;
    }
  }

  http::Client client_;
  std::size_t read_ = 0;  // in the unchunked text
};

std::vector<std::string> ids_of(const std::vector<ServerEvent>& events) {
  std::vector<std::string> ids;
  for (const ServerEvent& event : events) ids.push_back(event.id);
  return ids;
}

TEST_F(DutifulWeb, is_not_ready_while_it_stops) {
  const auto go = fifo("go");
  write(task("a", waits_once(go)));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunStarted", "a");
  EXPECT_EQ(web.get("/readyz").body, "ok\n");
  EXPECT_EQ(web.get("/healthz").body, "ok\n");
  daemon.signal(SIGTERM);
  daemon.await("SchedulerStopRequested");
  EXPECT_EQ(reason_not_ready(web), "the daemon is stopping\n");
  EXPECT_EQ(web.get("/healthz").status, 200);  // nobody should kill it now
  EXPECT_EQ(web.get_json("/api/v1/tasks")["lifecycle"], "stopping");
  go.release();
  EXPECT_EQ(daemon.end().status, 0);
}

TEST_F(DutifulWeb, is_not_ready_while_the_state_cannot_be_written) {
  const auto go = fifo("go");
  write(task("a", waits_once(go)));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunStarted", "a");
  EXPECT_EQ(web.get("/readyz").status, 200);
  std::filesystem::rename(state, state + "-away");
  go.release();
  daemon.await("StoreFailed");
  EXPECT_THAT(reason_not_ready(web), StartsWith("the state cannot be written since 20"));
  EXPECT_EQ(web.get("/healthz").status, 200);
  EXPECT_THAT(web.get("/metrics").body, HasSubstr("\ndutiful_store_failing 1\n"));
  EXPECT_EQ(web.get("/api/v1/account").status, 503);
  EXPECT_THAT(web.get_json("/api/v1/tasks")["storeFailingSince"].get<std::string>(),
              StartsWith("20"));
  std::filesystem::rename(state + "-away", state);
  daemon.await("TaskRunCompleted", "a");
  EXPECT_EQ(web.get("/readyz").status, 200);
}

// The scheduler writes nothing today, so it does not notice.
TEST_F(DutifulWeb, is_not_ready_without_its_state) {
  write(idle_task("a"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskFileLoaded");
  EXPECT_EQ(web.get("/readyz").body, "ok\n");
  std::filesystem::rename(state, state + "-away");
  const Answer removed = web.get("/readyz");
  EXPECT_EQ(removed.status, 503);
  EXPECT_THAT(removed.body, StartsWith("the file of the state was removed while in use"));
  EXPECT_EQ(web.get("/healthz").status, 200);
  std::filesystem::copy_file(state + "-away", state);
  EXPECT_THAT(web.get("/readyz").body, StartsWith("the file of the state was replaced"));
  std::filesystem::rename(state + "-away", state);
  EXPECT_EQ(web.get("/readyz").body, "ok\n");
}

TEST_F(DutifulWeb, is_not_ready_while_a_task_is_overdue) {
  for (const bool with_token : {false, true}) {
    std::filesystem::remove(state);
    // Each daemon has its own: a command of the first one may still pass it at the turn of a
    // minute.
    const auto go = fifo(with_token ? "go-with-token" : "go");
    write(task("a secret", waits_once(go)) + task("b secret", "true"));
    std::vector<std::string> options{"--max-concurrent", "1", "--max-overdue", "0s"};
    if (with_token) {
      options.insert(options.end(), {"--listen-token-file", token_file(secret)});
    }
    Process daemon{listening(options)};
    const WebClient web = web_of(daemon);
    const std::string running = daemon.await("TaskRunStarted")["taskName"];
    if (running != "a secret") GTEST_FAIL() << running;
    const std::string reason = reason_not_ready(web);
    EXPECT_THAT(reason, StartsWith("1 task is overdue by more than 0s: "));
    // Without the token nobody learns what the tasks are called.
    if (with_token) {
      EXPECT_THAT(reason, Not(HasSubstr("secret")));
    } else {
      EXPECT_THAT(reason, HasSubstr("\"b secret\" since 20"));
    }
    go.release();
    daemon.await("TaskRunCompleted", "b secret");
  }
}

TEST_F(DutifulWeb, sends_events_and_continues_where_a_client_left) {
  const auto go = fifo("go");
  write(task("a", waits_once(go)) + task("ü/\\\" b", "true"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  daemon.await("TaskRunStarted", "a");
  EventReader first{web};
  go.release();
  const auto completed = first.await("TaskRunCompleted");
  ASSERT_TRUE(completed);
  const json data = json::parse(completed->data);
  EXPECT_EQ(data["event"], "TaskRunCompleted");
  EXPECT_EQ(data["success"], true);

  // What follows is the same for every client that continues from there.
  for (int i = 0; i < 3; ++i) {
    daemon.signal(SIGHUP);
    first.await("TaskFileLoaded");
  }
  EventReader all{web, "an id of nobody"};
  const auto missed = all.next();
  ASSERT_TRUE(missed);
  EXPECT_EQ(missed->name, "missed");
  EXPECT_EQ(json::parse(missed->data)["missed"], nullptr);
  const auto events = all.next(6);
  ASSERT_EQ(events.size(), 6);
  EXPECT_EQ(events[0].name, "Listening");  // the first event of this daemon
  const auto ids = ids_of(events);
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    EventReader again{web, ids[i]};
    EXPECT_THAT(ids_of(again.next(ids.size() - i - 1)),
                ElementsAreArray(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1, ids.end()));
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);

  // A new daemon has other ids, and does not take those of the former one for its own.
  Process second{listening()};
  const WebClient web_of_second = web_of(second);
  second.await("TaskFileLoaded");
  EventReader later{web_of_second, ids[0]};
  EXPECT_EQ(later.next()->name, "missed");
  const auto now = later.next();
  ASSERT_TRUE(now);
  EXPECT_THAT(ids, Not(testing::Contains(now->id)));
}

TEST_F(DutifulWeb, bounds_the_streams_of_events) {
  write(task("a", "true"));
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  std::vector<std::unique_ptr<EventReader>> readers;
  for (int i = 0; i < 32; ++i) readers.push_back(std::make_unique<EventReader>(web));
  const Answer refused = web.get("/api/v1/events");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("Retry-After"), "10");
  EXPECT_EQ(web.get("/healthz").status, 200);
}

// Streams have no deadline, and a busy connection does not reach its own: a daemon that waited for
// its clients would not end.
TEST_F(DutifulWeb, does_not_wait_for_clients_when_it_ends) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += idle_task(std::to_string(i) + std::string(1000, 'x'));
  write(text);
  Process daemon{listening({"--listen", "unix:" + directory.file("web.sock")})};
  const std::vector<WebClient> webs{web_of(daemon), web_of(daemon)};
  daemon.await("TaskFileLoaded");
  std::vector<std::unique_ptr<EventReader>> readers;
  std::vector<http::Client> clients;
  std::vector<std::thread> busy;
  for (const WebClient& web : webs) {
    readers.push_back(std::make_unique<EventReader>(web));
    clients.push_back(web.connect());  // silent
    clients.emplace_back(web.connect()).send("GET /api/v1/tasks HTTP/1.1\r\nHo");
    clients.emplace_back(web.connect()).get("/healthz");
    EXPECT_THAT(clients.back().read_response(), StartsWith("HTTP/1.1 200 "));  // and stays
    clients.emplace_back(web.connect(http::Client::Buffers::small)).get("/api/v1/tasks");
    EXPECT_TRUE(clients.back().read_until("\r\n\r\n"));  // and reads no more
    busy.emplace_back([&web] {
      try {
        while (web.get("/api/v1/tasks").status != 0) {
        }
      } catch (const std::runtime_error&) {  // nobody listens any more
        return;
      }
    });
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.end().status, 0);
  for (const auto& reader : readers) reader->read_all();
  for (http::Client& client : clients) client.read_all();
  for (std::thread& thread : busy) thread.join();
}

}  // namespace
}  // namespace dutiful
