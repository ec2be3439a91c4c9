#include "http/server.h"

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "files/private_file.h"
#include "http/http_in_test.h"
#include "support/temporary_directory.h"

namespace dutiful::http {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

HttpServer::Options loopback() {
  return {.addresses = {parse_listen_address("0")}};
}

Response echo(const Request& request) {
  std::string text;
  for (const std::string& segment : request.segments) text += segment + '\n';
  for (const auto& [name, value] : request.query) text += name + '=' + value + '\n';
  return text_response(200, text);
}

// The response to a request for the target, on a connection of its own.
std::string get(const HttpServer& server,
                const std::string& target,
                const std::string& headers = {}) {
  Client client{server.addresses().front()};
  client.get(target, headers);
  return client.read_response();
}

// The response to any text.
std::string answer_to(const HttpServer& server, const std::string& request) {
  Client client{server.addresses().front()};
  client.send(request);
  return client.read_response();
}

TEST(Server, gives_the_handler_the_decoded_path_and_query) {
  const HttpServer server{loopback(), echo};
  EXPECT_THAT(
      get(server, "/tasks/a%2Fb%20c?limit=5&q=x+y"),
      AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\ntasks\na/b c\nlimit=5\nq=x y\n")));
}

TEST(Server, gives_the_handler_the_headers_and_the_client) {
  std::promise<Request> seen;
  const HttpServer server{loopback(), [&](const Request& request) {
                            seen.set_value(request);
                            return text_response(200, "ok");
                          }};
  get(server, "/a", "X-Header: value\r\n");
  const Request request = seen.get_future().get();
  EXPECT_EQ(request.client, "127.0.0.1");
  ASSERT_NE(request.header("x-header"), nullptr);
  EXPECT_EQ(*request.header("x-header"), "value");
}

TEST(Server, sends_the_headers_of_the_handler_and_the_default_ones) {
  const HttpServer server{loopback(), [](const Request&) {
                            Response response = text_response(203, "text");
                            response.headers = {{"cache-control", "max-age=5"}, {"X-Own", "1"}};
                            return response;
                          }};
  EXPECT_THAT(get(server, "/"),
              AllOf(StartsWith("HTTP/1.1 203 "),
                    HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"),
                    HasSubstr("cache-control: max-age=5\r\n"),
                    HasSubstr("X-Own: 1\r\n"),
                    Not(HasSubstr("no-store")),
                    HasSubstr("X-Content-Type-Options: nosniff\r\n"),
                    HasSubstr("Referrer-Policy: no-referrer\r\n"),
                    HasSubstr("X-Frame-Options: DENY\r\n")));
}

TEST(Server, answers_head_as_get_without_the_body) {
  const HttpServer server{loopback(), [](const Request& request) {
                            EXPECT_EQ(request.method, Request::Method::head);
                            return text_response(200, "0123456789");
                          }};
  Client client{server.addresses().front()};
  client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.read_all(), AllOf(HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n")));
}

TEST(Server, keeps_a_connection_for_a_bounded_number_of_requests) {
  HttpServer::Options options = loopback();
  options.limits.requests_per_connection_max = 3;
  const HttpServer server{std::move(options), echo};
  Client client{server.addresses().front()};
  for (int i = 0; i < 3; ++i) {
    client.get("/" + std::to_string(i));
    EXPECT_THAT(client.read_response(), EndsWith("\r\n\r\n" + std::to_string(i) + '\n'));
  }
  EXPECT_FALSE(client.read_more());
}

class Numbers : public BodySource {
 public:
  explicit Numbers(int last) : last_(last) {}
  std::string next() override {
    if (last_ < 0 && number_ == -last_) throw std::runtime_error("no more");
    return number_ == last_ ? std::string{} : std::to_string(number_++) + '\n';
  }

 private:
  int number_ = 0;
  int last_;
};

TEST(Server, sends_a_body_in_pieces) {
  const HttpServer server{loopback(), [](const Request&) {
                            return Response{.body = std::make_shared<Numbers>(100'000)};
                          }};
  Client client{server.addresses().front()};
  client.send("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");  // without chunks, up to the end
  const std::string text = client.read_all();
  std::string expected;
  for (int i = 0; i < 100'000; ++i) expected += std::to_string(i) + '\n';
  EXPECT_EQ(text.substr(text.find("\r\n\r\n") + 4), expected);
}

TEST(Server, lets_the_client_notice_that_a_body_is_not_complete) {
  const HttpServer server{
      loopback(), [](const Request&) { return Response{.body = std::make_shared<Numbers>(-5)}; }};
  Client client{server.addresses().front()};
  client.get("/");
  const std::string text = client.read_all();
  EXPECT_THAT(text, HasSubstr("4\n"));
  EXPECT_THAT(text, Not(HasSubstr("\r\n0\r\n")));  // the last chunk
}

TEST(Server, answers_500_if_the_handler_throws) {
  const HttpServer server{loopback(), [](const Request& request) -> Response {
                            if (request.path == "/memory") throw std::bad_alloc{};
                            throw std::runtime_error("secret");
                          }};
  EXPECT_THAT(get(server, "/"), AllOf(StartsWith("HTTP/1.1 500 "), Not(HasSubstr("secret"))));
  EXPECT_THAT(get(server, "/memory"), StartsWith("HTTP/1.1 503 "));
}

TEST(Server, refuses_what_does_not_only_read) {
  const HttpServer server{loopback(), echo};
  EXPECT_THAT(answer_to(server, "DELETE /tasks/a HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 405 "),
                    HasSubstr("Allow: GET, HEAD\r\n"),
                    HasSubstr("Content-Type: application/json\r\n"),
                    EndsWith("{\"error\": \"only GET and HEAD are allowed\"}\n")));
  EXPECT_THAT(answer_to(server, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(
      answer_to(server, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabcde"),
      StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(
      answer_to(server, "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"),
      StartsWith("HTTP/1.1 413 "));
}

TEST(Server, reads_no_request_out_of_a_body) {
  std::atomic<int> requests = 0;
  const HttpServer server{loopback(), [&](const Request& request) {
                            ++requests;
                            return echo(request);
                          }};
  Client client{server.addresses().front()};
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
              std::to_string(hidden.size()) + "\r\n\r\n" + hidden);
  const std::string text = client.read_all();
  EXPECT_THAT(text, StartsWith("HTTP/1.1 405 "));
  EXPECT_EQ(requests, 0);
}

TEST(Server, refuses_malformed_requests) {
  const HttpServer server{loopback(), echo};
  EXPECT_THAT(answer_to(server, "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(server, "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(server, "GET /a/%2e%2e/b HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(answer_to(server, "nonsense\r\n\r\n"), Not(HasSubstr(" 200 ")));
}

// libmicrohttpd has an answer of its own to a request without Host, and sends its headers twice.
TEST(Server, answers_a_malformed_request_once_and_as_any_other_error) {
  const HttpServer server{loopback(), echo};
  for (const char* request : {"GET / HTTP/1.1\r\n\r\n",
                              "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
                              "GET / HTTP/1.0\r\nHost : localhost\r\n\r\n",
                              "GET / HTTP/1.1\r\nHost: localhost\r\nX\tY: z\r\n\r\n",
                              "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
                              // The rest is no request, whatever the length was meant to be.
                              "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length : 37\r\n\r\n"
                              "GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    SCOPED_TRACE(request);
    Client client{server.addresses().front()};
    client.send(request);
    EXPECT_THAT(client.read_response(),
                AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"),
                      HasSubstr("X-Frame-Options: DENY\r\n"),
                      HasSubstr("Content-Type: application/json\r\n"),
                      EndsWith("\"}\n")));
    // Nothing follows, except the answer to the next request if the connection stays open.
    client.get("/next", "Connection: close\r\n");
    EXPECT_THAT(client.read_all(),
                AnyOf("", AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nnext\n"))));
  }
}

TEST(Server, refuses_what_is_too_large) {
  const HttpServer server{loopback(), echo};
  const Limits limits;
  EXPECT_THAT(get(server, "/" + std::string(limits.target_max, 'a')), StartsWith("HTTP/1.1 414 "));
  EXPECT_THAT(get(server, "/", "X: " + std::string(limits.headers_max, 'a') + "\r\n"),
              StartsWith("HTTP/1.1 431 "));
  std::string many;
  for (std::size_t i = 0; i < limits.header_count_max; ++i) many += "A: b\r\n";
  EXPECT_THAT(get(server, "/", many), StartsWith("HTTP/1.1 431 "));
  // More than libmicrohttpd has memory for.
  EXPECT_THAT(get(server, "/" + std::string(limits.memory_per_connection, 'a')),
              Not(HasSubstr(" 200 ")));
}

TEST(Server, refuses_and_reports_other_hosts_and_wrong_tokens) {
  std::vector<RefusedRequest> refused;  // reported one at a time
  HttpServer::Options options = loopback();
  options.token.emplace("0123456789abcdef");
  options.needs_no_token = [](std::string_view path) { return path == "/healthz"; };
  options.on_refused = [&](const RefusedRequest& request) { refused.push_back(request); };
  options.limits.refusal_interval = milliseconds{0};
  std::optional<HttpServer> server{std::in_place, std::move(options), echo};
  EXPECT_THAT(answer_to(*server, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              StartsWith("HTTP/1.1 421 "));
  EXPECT_THAT(get(*server, "/tasks"),
              AllOf(StartsWith("HTTP/1.1 401 "),
                    HasSubstr("WWW-Authenticate: Basic realm=\"dutiful\""),
                    HasSubstr("WWW-Authenticate: Bearer realm=\"dutiful\"\r\n")));
  EXPECT_THAT(get(*server, "/tasks", "Authorization: Bearer 0123456789abcdef\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(get(*server, "/tasks", "Authorization: Basic eDowMTIzNDU2Nzg5YWJjZGVm\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(get(*server, "/healthz"), StartsWith("HTTP/1.1 200 "));
  server.reset();

  ASSERT_EQ(refused.size(), 2);
  EXPECT_EQ(refused[0].what, "GET /healthz");
  EXPECT_EQ(refused[0].reason, "the header Host names another server: \"evil.example\"");
  EXPECT_EQ(refused[0].who, "127.0.0.1");
  EXPECT_EQ(refused[1].what, "GET /tasks");
  EXPECT_EQ(refused[1].reason, "there is no token");
}

TEST(Server, listens_for_others_only_with_a_token) {
  const HttpServer::Options options{.addresses = {parse_listen_address("0.0.0.0:0")}};
  EXPECT_THROW(HttpServer(options, echo), std::logic_error);
  HttpServer::Options with_token = options;
  with_token.token.emplace("0123456789abcdef");
  const HttpServer server{std::move(with_token), echo};
  // The address at which the connection arrived is a host of ours.
  Client client{{.host = "127.0.0.1", .port = server.port()}};
  client.send(
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
  EXPECT_THAT(client.read_response(), StartsWith("HTTP/1.1 200 "));
}

TEST(Server, serves_several_addresses) {
  const TemporaryDirectory directory;
  HttpServer::Options options = loopback();
  options.addresses.push_back(parse_listen_address("unix:" + directory.file("socket")));
  std::promise<std::string> user;
  std::optional<HttpServer> server{std::in_place, std::move(options), [&](const Request& request) {
                                     if (request.path == "/user") user.set_value(request.client);
                                     return echo(request);
                                   }};
  EXPECT_NE(server->port(), 0);
  EXPECT_THAT(get(*server, "/a"), EndsWith("a\n"));
  Client client{server->addresses().back()};
  client.send("GET /user HTTP/1.1\r\nHost: any.example\r\n\r\n");
  EXPECT_THAT(client.read_response(), EndsWith("user\n"));
  EXPECT_EQ(user.get_future().get(), "user " + std::to_string(geteuid()));

  server.reset();
  EXPECT_NE(access(directory.file("socket").c_str(), F_OK), 0);
}

TEST(Server, says_that_it_cannot_listen) {
  const HttpServer first{loopback(), echo};
  EXPECT_THROW(HttpServer({.addresses = first.addresses()}, echo), std::system_error);
}

TEST(Server, has_threads_that_block_signals_and_have_a_lower_priority) {
  std::promise<std::pair<int, bool>> seen;
  const HttpServer server{
      loopback(), [&](const Request&) {
        sigset_t mask;
        pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        seen.set_value({getpriority(PRIO_PROCESS, 0),
                        sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1});
        return text_response(200, "");
      }};
  get(server, "/");
  const auto [niceness, blocked] = seen.get_future().get();
  EXPECT_EQ(niceness, std::min(19, getpriority(PRIO_PROCESS, 0) + Limits{}.niceness));
  EXPECT_TRUE(blocked);
}

TEST(Server, answers_others_while_a_handler_takes_its_time) {
  std::binary_semaphore release{0};
  std::promise<void> entered;
  HttpServer::Options options = loopback();
  options.limits.threads = 4;
  const HttpServer server{std::move(options), [&](const Request& request) {
                            if (request.path == "/slow") {
                              entered.set_value();
                              release.acquire();
                            }
                            return echo(request);
                          }};
  Client slow{server.addresses().front()};
  slow.get("/slow");
  entered.get_future().wait();
  // A new connection may be given to the thread that is busy, and then waits; one of several is
  // not.
  std::vector<Client> clients;
  std::vector<pollfd> polled;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back(server.addresses().front()).get("/fast");
    polled.push_back({.fd = clients.back().descriptor(), .events = POLLIN, .revents = 0});
  }
  EXPECT_GT(poll(polled.data(), polled.size(), -1), 0);
  release.release();
  for (Client& client : clients) EXPECT_THAT(client.read_response(), EndsWith("fast\n"));
  EXPECT_THAT(slow.read_response(), EndsWith("slow\n"));
}

}  // namespace
}  // namespace dutiful::http
