// Clients that are slow, greedy or silent.

#include <chrono>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/event_hub.h"
#include "http/http_in_test.h"
#include "http/server.h"

namespace dutiful::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::StartsWith;

// Never ends.
class Endless : public BodySource {
 public:
  std::string next() override { return std::string(10'000, 'x'); }
};

Response handle(const Request& request) {
  if (request.path == "/endless") return {.body = std::make_shared<Endless>()};
  if (request.path == "/large") return text_response(200, std::string(5'000'000, 'x'));
  return text_response(200, "ok\n");
}

HttpServer::Options loopback() {
  return {.addresses = {parse_listen_address("0")}};
}

// No other limit ends a connection.
HttpServer::Options with_deadline(milliseconds deadline) {
  HttpServer::Options options = loopback();
  options.limits.request_max = deadline;
  options.limits.header_max = deadline;
  options.limits.idle_max = seconds{1'000};
  return options;
}

TEST(Storm, of_silent_clients_ends_at_their_deadline) {
  const HttpServer server{with_deadline(milliseconds{50}), handle};
  Client silent{server.addresses().front()};
  EXPECT_EQ(silent.read_all(), "");
  Client half{server.addresses().front()};
  half.send("GET / HTTP/1.1\r\nHost: local");
  EXPECT_EQ(half.read_all(), "");
}

TEST(Storm, of_clients_that_send_a_byte_now_and_then_ends_at_their_deadline) {
  const HttpServer server{with_deadline(milliseconds{50}), handle};
  Client slow{server.addresses().front()};
  slow.send("GET / HTTP/1.1\r\nX: ");
  while (slow.send("x")) std::this_thread::yield();
}

TEST(Storm, of_clients_that_read_a_byte_now_and_then_ends_at_their_deadline) {
  const HttpServer server{with_deadline(milliseconds{50}), handle};
  for (const char* path : {"/endless", "/large"}) {
    SCOPED_TRACE(path);
    Client slow{server.addresses().front(), Client::Buffers::small};
    slow.get(path);
    // The connection ends although the client never reads the rest.
    pollfd state{.fd = slow.descriptor(), .events = POLLRDHUP, .revents = 0};
    EXPECT_EQ(poll(&state, 1, -1), 1);
  }
}

TEST(Storm, of_a_client_that_reads_all_of_an_endless_body_ends_at_its_deadline) {
  const HttpServer server{with_deadline(milliseconds{50}), handle};
  Client client{server.addresses().front()};
  client.get("/endless");
  while (client.read_more()) client.clear();
}

TEST(Storm, deadlines_begin_anew_with_each_request) {
  HttpServer::Options options = with_deadline(milliseconds{200});
  options.limits.requests_per_connection_max = 1'000'000;
  const HttpServer server{std::move(options), handle};
  // If this thread is held up for longer than the deadline, it tries again.
  bool outlived = false;
  for (int attempts = 0; attempts < 100 && !outlived; ++attempts) {
    Client client{server.addresses().front()};
    const auto start = std::chrono::steady_clock::now();
    bool answered = true;
    while (answered && !outlived) {
      client.get("/");
      answered = !client.read_response().empty();
      outlived = answered && std::chrono::steady_clock::now() - start > milliseconds{300};
    }
  }
  EXPECT_TRUE(outlived);
}

TEST(Storm, of_idle_clients_ends) {
  HttpServer::Options options = loopback();
  options.limits.idle_max = seconds{1};
  const HttpServer server{std::move(options), handle};
  Client client{server.addresses().front()};
  client.get("/");
  EXPECT_THAT(client.read_response(), EndsWith("ok\n"));
  EXPECT_EQ(client.read_all(), "");
}

TEST(Storm, of_one_client_leaves_room_for_others) {
  std::binary_semaphore reported{0};
  RefusedRequest refused;
  HttpServer::Options options = loopback();
  options.limits.connections_per_client_max = 4;
  options.on_refused = [&](const RefusedRequest& request) {
    refused = request;
    reported.release();
  };
  const HttpServer server{std::move(options), handle};
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(server.addresses().front()).get("/");
    EXPECT_THAT(clients.back().read_response(), EndsWith("ok\n"));
  }
  Client fifth{server.addresses().front()};
  EXPECT_EQ(fifth.read_all(), "");
  reported.acquire();
  EXPECT_EQ(refused.what, "connection");
  EXPECT_EQ(refused.reason, "the client has too many connections");
  EXPECT_EQ(refused.who, "127.0.0.1");

  clients.pop_back();
  std::string response;
  do {
    Client next{server.addresses().front()};
    next.get("/");
    response = next.read_response();
  } while (response.empty());  // until the server has noticed that one has left
  EXPECT_THAT(response, EndsWith("ok\n"));
}

TEST(Storm, of_slow_readers_does_not_fill_the_memory) {
  HttpServer::Options options = with_deadline(milliseconds{1'000'000});
  options.limits.bodies_max = 9'000'000;
  const HttpServer server{std::move(options), handle};
  std::vector<Client> slow;
  for (int i = 0; i < 2; ++i) {
    slow.emplace_back(server.addresses().front(), Client::Buffers::small).get("/large");
    ASSERT_TRUE(slow.back().read_until("\r\n\r\n"));
    EXPECT_THAT(slow.back().text(), StartsWith("HTTP/1.1 200 "));
  }
  Client third{server.addresses().front()};
  third.get("/large");
  EXPECT_THAT(third.read_response(), StartsWith("HTTP/1.1 503 "));
  third.get("/");  // is small
  EXPECT_THAT(third.read_response(), EndsWith("ok\n"));

  slow.pop_back();
  std::string response;
  do {
    third.get("/large");
    response = third.read_response();
  } while (response.starts_with("HTTP/1.1 503 "));  // until the server notices
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 "));
}

TEST(Storm, of_requests_is_served_when_the_first_have_left) {
  HttpServer::Options options = loopback();
  options.limits.connections_max = 4;
  options.limits.connections_per_client_max = 1'000;
  options.limits.request_max = milliseconds{100};
  const HttpServer server{std::move(options), handle};
  std::vector<Client> busy;
  for (int i = 0; i < 16; ++i) {
    busy.emplace_back(server.addresses().front(), Client::Buffers::small).get("/endless");
  }
  std::string response;
  do {
    Client client{server.addresses().front()};
    client.get("/");
    response = client.read_response();
  } while (response.empty());  // a busy host may need longer than the deadline
  EXPECT_THAT(response, EndsWith("ok\n"));
}

// No deadline ends them, and they are as many as two clients may have.
TEST(Storm, of_clients_without_a_request_leaves_room_for_others) {
  HttpServer::Options options = with_deadline(milliseconds{1'000'000});
  const Limits limits = options.limits;
  ASSERT_EQ(limits.connections_max, 2 * limits.connections_per_client_max);
  const HttpServer server{std::move(options), handle};
  const ListenAddress& address = server.addresses().front();
  std::vector<Client> slow;
  for (unsigned i = 0; i < limits.connections_max; ++i) {
    const char* from = i % 2 == 0 ? "127.0.0.2" : "127.0.0.3";
    slow.emplace_back(address, Client::Buffers::usual, from).send("GET / HTTP/1.1\r\nX: x");
  }
  for (int i = 0; i < 10; ++i) {
    Client client{address};
    client.get("/");
    EXPECT_THAT(client.read_response(), EndsWith("ok\n"));
  }
}

// Clients that keep their connections have none of the places.
TEST(Storm, of_clients_that_stay_leaves_room_for_others) {
  HttpServer::Options options = with_deadline(milliseconds{1'000'000});
  options.limits.connections_max = 4;
  const HttpServer server{std::move(options), handle};
  std::vector<Client> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(server.addresses().front()).get("/");
    EXPECT_THAT(clients.back().read_response(), EndsWith("ok\n"));
  }
}

TEST(Storm, of_clients_that_send_headers_slowly_ends_before_that_of_a_slow_response) {
  HttpServer::Options options = with_deadline(milliseconds{1'000'000});
  options.limits.header_max = milliseconds{50};
  const HttpServer server{std::move(options), handle};
  Client endless{server.addresses().front()};
  endless.get("/endless");
  ASSERT_TRUE(endless.read_more());
  Client slow{server.addresses().front()};
  slow.send("GET / HTTP/1.1\r\nX: ");
  while (slow.send("x")) std::this_thread::yield();
  EXPECT_TRUE(endless.read_more());
}

TEST(Storm, does_not_hold_up_the_end_of_the_server) {
  EventHub hub;
  HttpServer::Options options = loopback();
  options.limits.connections_per_client_max = 1'000;
  options.events = &hub;
  std::optional<HttpServer> server{std::in_place, std::move(options), [](const Request& request) {
                                     if (request.path == "/events") return event_response(request);
                                     return handle(request);
                                   }};
  std::vector<Client> clients;
  for (int i = 0; i < 10; ++i) {
    clients.emplace_back(server->addresses().front());
    clients.emplace_back(server->addresses().front()).send("GET / HTTP/1.1\r\nHost: l");
    clients.emplace_back(server->addresses().front(), Client::Buffers::small).get("/endless");
    clients.emplace_back(server->addresses().front(), Client::Buffers::small).get("/large");
    clients.emplace_back(server->addresses().front()).get("/events");
    clients.emplace_back(server->addresses().front()).get("/");
  }
  for (std::size_t i = 5; i < clients.size(); i += 6) {
    EXPECT_THAT(clients[i].read_response(), StartsWith("HTTP/1.1 200 "));
  }
  server.reset();
}

TEST(Storm, of_everything_leaves_the_server_well) {
  EventHub hub;
  HttpServer::Options options = loopback();
  options.limits.connections_per_client_max = 30;
  options.limits.connections_max = 40;
  options.limits.request_max = milliseconds{200};
  options.limits.streams_max = 4;
  options.events = &hub;
  const HttpServer server{std::move(options), [](const Request& request) {
                            if (request.path == "/events") return event_response(request);
                            return handle(request);
                          }};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 100; ++i) {
        hub.publish("Event", std::to_string(i));
        Client client{server.addresses().front(), Client::Buffers::small};
        switch ((i + thread) % 6) {
          case 0:
            client.send("GET / HT");
            break;
          case 1:
            client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" +
                        std::string(100'000, 'x'));
            break;
          case 2:
            client.get("/" + std::string(100'000, 'x'));
            break;
          case 3:
            client.get("/endless");
            client.read_more();
            break;
          case 4:
            client.get("/events");
            client.read_more();
            break;
          default:
            client.get("/");
            client.read_response();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string response;
  do {
    Client client{server.addresses().front()};
    client.get("/");
    response = client.read_response();
  } while (response.empty());  // until those that have left are gone
  EXPECT_THAT(response, EndsWith("ok\n"));
}

}  // namespace
}  // namespace dutiful::http
