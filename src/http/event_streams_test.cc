#include "http/event_streams.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/event_hub.h"
#include "http/http_in_test.h"
#include "http/server.h"
#include "support/temporary_directory.h"

namespace dutiful::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Streams : public ::testing::Test {
 protected:
  HttpServer& serve() { return serve(HttpServer::Options{}); }
  HttpServer& serve(HttpServer::Options options) {
    if (options.addresses.empty()) options.addresses = {parse_listen_address("0")};
    options.events = &hub_;
    return server_.emplace(std::move(options), [](const Request& request) {
      return request.path == "/events" ? event_response(request) : text_response(200, "ok");
    });
  }
  // Follows the events, and waits until the stream has begun.
  Client follow(const std::string& headers = {}, Client::Buffers buffers = Client::Buffers::usual) {
    Client client{server_->addresses().front(), buffers};
    client.get("/events", headers);
    EXPECT_TRUE(client.read_until("retry: 2000\n\n")) << client.text();
    return client;
  }
  void publish(const std::string& data) { hub_.publish("Event", data); }

  EventHub hub_{{.events_max = 64, .bytes_max = 1024UL * 1024}, "boot"};
  std::optional<HttpServer> server_;
};

std::string event(int number, const std::string& data) {
  return "id: boot-" + std::to_string(number) + "\nevent: Event\ndata: " + data + "\n\n";
}

TEST_F(Streams, send_events_as_they_are_published) {
  serve();
  Client client = follow();
  EXPECT_THAT(client.text(),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("Content-Type: text/event-stream\r\n"),
                    HasSubstr("Cache-Control: no-store\r\n"),
                    HasSubstr("X-Accel-Buffering: no\r\n")));
  for (int i = 1; i <= 100; ++i) {
    publish(std::to_string(i));
    ASSERT_TRUE(client.read_until(event(i, std::to_string(i)))) << client.text();
  }
}

TEST_F(Streams, continue_after_the_last_event_of_the_client) {
  serve();
  for (const char* data : {"1", "2", "3"}) publish(data);
  Client client = follow("Last-Event-ID: boot-1\r\n");
  ASSERT_TRUE(client.read_until(event(2, "2") + event(3, "3"))) << client.text();
  EXPECT_THAT(client.text(), Not(HasSubstr("boot-1\n")));
}

TEST_F(Streams, say_what_an_earlier_daemon_took_with_it) {
  serve();
  publish("1");
  Client client = follow("Last-Event-ID: toob-500\r\n");
  ASSERT_TRUE(client.read_until("event: missed\ndata: {\"missed\": null}\n\n" + event(1, "1")));
}

TEST_F(Streams, outlive_the_deadline_of_a_request_and_the_limit_of_idleness) {
  HttpServer::Options options;
  options.limits.request_max = milliseconds{50};
  options.limits.idle_max = seconds{1};
  options.limits.heartbeat = milliseconds{1100};
  serve(std::move(options));
  Client client = follow();
  for (int i = 0; i < 2; ++i) {
    client.clear();
    ASSERT_TRUE(client.read_until(":\n\n")) << "no heartbeat";
  }
  publish("1");
  EXPECT_TRUE(client.read_until(event(1, "1")));
}

TEST_F(Streams, are_bounded_and_free_their_place_when_the_client_leaves) {
  HttpServer::Options options;
  options.limits.streams_max = 2;
  serve(std::move(options));
  Client first = follow();
  Client second = follow();
  Client third{server_->addresses().front()};
  third.get("/events");
  EXPECT_THAT(third.read_response(),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 10\r\n")));
  third.get("/other");
  EXPECT_THAT(third.read_response(), StartsWith("HTTP/1.1 200 "));

  // The server notices that the client has left without having anything to send.
  first.close();
  std::string response;
  do {
    Client next{server_->addresses().front()};
    next.get("/events");
    next.read_until("\r\n\r\n");
    response = next.text();
  } while (response.starts_with("HTTP/1.1 503 "));
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 "));
}

TEST_F(Streams, answer_head_without_following) {
  HttpServer::Options options;
  options.limits.streams_max = 0;
  serve(std::move(options));
  Client client{server_->addresses().front()};
  client.send("HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Type: text/event-stream\r\n")));
}

// Publishes until the slow client is dropped. The fast one reads every event before the next.
void drop_the_slow(EventHub& hub, Client& slow, Client& fast) {
  const std::string large(8'000, 'x');
  std::string rest;
  bool is_open = true;
  for (int i = 1; is_open; ++i) {
    ASSERT_LT(i, 100'000) << "the slow client was not dropped";
    hub.publish("Event", large);
    ASSERT_TRUE(
        fast.read_until("id: boot-" + std::to_string(i) + "\nevent: Event\ndata: " + large));
    fast.clear();
    // The slow client reads nothing, but notices the end of the connection.
    pollfd state{.fd = slow.descriptor(), .events = POLLRDHUP, .revents = 0};
    is_open = poll(&state, 1, 0) == 0;
  }
}

TEST_F(Streams, drop_a_client_that_does_not_read_while_others_continue) {
  serve();
  Client slow = follow({}, Client::Buffers::small);
  Client fast = follow();
  drop_the_slow(hub_, slow, fast);

  // It continues where it was, and learns what it missed.
  const std::string text = slow.read_all();
  const std::size_t last = text.rfind("id: boot-");
  ASSERT_NE(last, std::string::npos);
  const std::string id = text.substr(last + 4, text.find('\n', last) - last - 4);
  Client again = follow("Last-Event-ID: " + id + "\r\n");
  EXPECT_TRUE(again.read_until("event: missed\n"));
}

TEST_F(Streams, drop_a_client_of_a_unix_socket_that_does_not_read) {
  const TemporaryDirectory directory;
  serve({.addresses = {parse_listen_address("unix:" + directory.file("socket"))}});
  Client slow = follow();
  Client fast = follow();
  drop_the_slow(hub_, slow, fast);
  server_.reset();
}

TEST_F(Streams, end_with_the_server) {
  serve();
  std::vector<Client> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(follow());
  server_.reset();
  for (Client& client : waiting) client.read_all();
}

TEST_F(Streams, end_with_the_server_though_nobody_reads) {
  serve();
  Client slow = follow({}, Client::Buffers::small);
  // More than the kernel buffers, so that the stream has something to send when the server ends.
  for (int i = 0; i < 64; ++i) publish(std::string(15'000, 'x'));
  server_.reset();
}

TEST_F(Streams, wait_for_one_of_many_publishers) {
  serve();
  Client client = follow();
  std::vector<std::thread> publishers;
  for (int thread = 0; thread < 4; ++thread) {
    publishers.emplace_back([&] {
      for (int i = 0; i < 10; ++i) publish("x");
    });
  }
  for (std::thread& thread : publishers) thread.join();
  EXPECT_TRUE(client.read_until("id: boot-40\n"));
}

}  // namespace
}  // namespace dutiful::http
