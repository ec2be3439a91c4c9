// dutiful run --listen: who may ask, and where it can listen.

#include <sys/stat.h>
#include <unistd.h>

#include "commands/web_in_test.h"
#include "support/another_user.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class WebAccess : public DutifulWeb {
 protected:
  WebAccess() { write(task("a", "true")); }

  // A daemon that refuses to start, and leaves no trace.
  void expect_refused(const std::vector<std::string>& options,
                      const std::string& message,
                      int status = 2) const {
    const Ended ended = run_to_end(arguments(options));
    EXPECT_EQ(ended.status, status) << testing::PrintToString(options);
    EXPECT_THAT(ended.err, AllOf(StartsWith("dutiful: "), HasSubstr(message)));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(state));
  }
};

TEST_F(WebAccess, needs_a_host_that_is_ours) {
  Process daemon{listening({"--listen-host", "cron.example.com"})};
  const WebClient web = web_of(daemon);
  const auto status_for = [&](const std::string& host) {
    return web.ask("GET /healthz HTTP/1.1\r\n" + host).status;
  };
  for (const char* host :
       {"localhost", "LOCALHOST:99", "127.0.0.1", "127.0.0.1:8470", "cron.example.com:443"}) {
    EXPECT_EQ(status_for(std::string{"Host: "} + host + "\r\n"), 200) << host;
  }
  for (const char* host : {"evil.example.com",
                           "cron.example.com.evil.example",
                           "localhost.evil.example",
                           "127.0.0.1.evil.example",
                           "192.0.2.1",
                           "0.0.0.0",
                           "localhost@evil.example"}) {
    EXPECT_EQ(status_for(std::string{"Host: "} + host + "\r\n"), 421) << host;
  }
  EXPECT_EQ(status_for(""), 400);
  EXPECT_EQ(status_for("Host: localhost\r\nHost: localhost\r\n"), 400);
  const auto refused = daemon.await("AccessRefused");
  EXPECT_EQ(refused["level"], "WARNING");
  EXPECT_EQ(refused["what"], "GET /healthz");
  EXPECT_EQ(refused["who"], "127.0.0.1");
  EXPECT_THAT(refused["reason"].get<std::string>(), HasSubstr("evil.example.com"));
}

TEST_F(WebAccess, needs_the_token_if_there_is_one) {
  const std::string socket = directory.file("web.sock");
  Process daemon{
      listening({"--listen", "unix:" + socket, "--listen-token-file", token_file(secret)})};
  const std::vector<WebClient> webs{web_of(daemon), web_of(daemon)};
  daemon.await("TaskFileLoaded");
  for (const WebClient& web : webs) {
    SCOPED_TRACE(web.address().to_string());
    for (const char* target :
         {"/", "/metrics", "/api/v1/tasks", "/api/v1/events", "/api/v1/openapi.json", "/x"}) {
      const Answer answer = web.get(target);
      EXPECT_EQ(answer.status, 401) << target;
      EXPECT_THAT(answer.header("WWW-Authenticate"), HasSubstr("dutiful"));
      EXPECT_THAT(answer.body, Not(HasSubstr("\"a\"")));
    }
    const auto status_with = [&](const std::string& credentials) {
      return web.get("/api/v1/tasks", "Authorization: " + credentials + "\r\n").status;
    };
    const std::string token = secret;
    EXPECT_EQ(status_with("Bearer " + token), 200);
    EXPECT_EQ(status_with("bearer " + token), 200);
    // Any user, and the token as the password.
    EXPECT_EQ(status_with("Basic eDowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg=="), 200);
    EXPECT_EQ(status_with("Basic OjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm"), 200);
    for (const std::string& wrong : {"Bearer " + token + "0",
                                     "Bearer " + token.substr(1),
                                     std::string{"Bearer "},
                                     token,
                                     "Digest " + token,
                                     "Basic " + token,
                                     std::string{"Basic eDp4"}}) {
      EXPECT_EQ(status_with(wrong), 401) << wrong;
    }
    EXPECT_EQ(web.get("/api/v1/tasks?token=" + token).status, 401);
    EXPECT_EQ(web.get("/healthz").status, 200);
    EXPECT_EQ(web.get("/readyz").status, 200);
    EXPECT_EQ(web.get("/readyz/").status, 401);
  }
  const auto refused = daemon.await("AccessRefused");
  EXPECT_EQ(refused["reason"], "there is no token");
  daemon.signal(SIGTERM);
  EXPECT_THAT(daemon.end().out, Not(HasSubstr(secret)));
}

TEST_F(WebAccess, refuses_a_token_file_that_others_could_know) {
  const std::vector<std::string> options{
      "--listen", "0", "--listen-token-file", directory.file("token")};
  expect_refused(options, "cannot be read");
  (void)token_file(secret, 0644);
  expect_refused(options, "can be used by other users; run: chmod 600");
  (void)token_file(secret, 0640);
  expect_refused(options, "can be used by other users");
  (void)token_file("");
  expect_refused(options, "contains no token");
  (void)token_file("0123456789abcde");
  expect_refused(options, "must have 16 to 1024 characters, not 15");
  (void)token_file("0123456789 abcdef");
  expect_refused(options, "visible ASCII characters");
  // A link is followed, so it is the file that counts.
  std::filesystem::rename(token_file(secret, 0644), directory.file("real"));
  std::filesystem::create_symlink(directory.file("real"), directory.file("token"));
  expect_refused(options, "can be used by other users");
  std::filesystem::permissions(directory.file("real"), std::filesystem::perms::owner_read);
  Process daemon{arguments(options)};
  const WebClient web = web_of(daemon);
  EXPECT_EQ(web.get("/api/v1/tasks").status, 401);
  const std::string authorization = std::string{"Authorization: Bearer "} + secret + "\r\n";
  EXPECT_EQ(web.get("/api/v1/tasks", authorization).status, 200);
}

TEST_F(WebAccess, refuses_a_token_file_of_another_user) {
  DUTIFUL_NEEDS_ANOTHER_USER();
  const std::string token = token_file(secret);
  ASSERT_EQ(chown(token.c_str(), another_user, another_user), 0);
  expect_refused({"--listen", "0", "--listen-token-file", token}, "belongs to");
}

TEST_F(WebAccess, refuses_an_address_that_others_reach_without_a_token) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    expect_refused({"--listen", address}, "so requests need a token; add --listen-token-file FILE");
  }
  expect_refused({"--listen", "example.com:80"}, "example.com");
  expect_refused({"--listen", "0", "--listen-host", "a b"}, "invalid host");
  expect_refused({"--listen-host", "a"}, "add --listen ADDRESS");
  // With a token, it listens there.
  Process daemon{arguments({"--listen", "0.0.0.0:0", "--listen-token-file", token_file(secret)})};
  EXPECT_THAT(daemon.await("Listening")["address"].get<std::string>(), StartsWith("0.0.0.0:"));
}

TEST_F(WebAccess, leaves_the_state_alone_if_it_cannot_listen) {
  const std::string other = directory.file("other.db");
  Process first{listening({"--state", other})};
  const WebClient web = web_of(first);
  const std::string address = web.address().to_string();
  const std::string message =
      "cannot listen on " + address + ": Address already in use; choose another port";
  expect_refused({"--listen", address}, message, 1);

  // Also if one of several addresses is free.
  expect_refused({"--listen", "0", "--listen", address}, message, 1);
  EXPECT_EQ(web.get("/healthz").status, 200);
}

TEST_F(WebAccess, does_not_take_the_socket_of_a_daemon_that_lives) {
  const std::string socket = directory.file("web.sock");
  const std::vector<std::string> options{"--listen", "unix:" + socket};
  {
    Process first{arguments({"--listen", "unix:" + socket, "--state", directory.file("other.db")})};
    const WebClient web = web_of(first);
    expect_refused(options, "is in use: another process listens on it", 1);
    EXPECT_EQ(web.get("/healthz").status, 200);
    first.signal(SIGKILL);
    first.end();
  }
  EXPECT_TRUE(std::filesystem::is_socket(socket));
  Process second{arguments(options)};
  EXPECT_EQ(web_of(second).get("/healthz").status, 200);
  second.signal(SIGTERM);
  EXPECT_EQ(second.end().status, 0);
  EXPECT_FALSE(std::filesystem::exists(socket));

  std::ofstream{socket} << "precious";
  std::filesystem::remove(state);
  expect_refused(options, "is not a socket", 1);
  EXPECT_EQ(contents(socket), "precious");
}

TEST_F(WebAccess, reports_refusals_without_flooding_the_log) {
  Process daemon{listening()};
  const WebClient web = web_of(daemon);
  const auto start = std::chrono::steady_clock::now();
  constexpr std::int64_t count = 100;
  const std::string host = "Host: evil\\" + std::string(4'000, 'x') + "\r\n";
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(web.ask("GET /" + std::string(2'000, 'y') + " HTTP/1.1\r\n" + host).status, 421);
  }
  daemon.signal(SIGTERM);
  const std::string log = daemon.end().out;
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
  std::int64_t reports = 0;
  for (std::size_t at = log.find("AccessRefused"); at != std::string::npos;
       at = log.find("AccessRefused", at + 1)) {
    ++reports;
    EXPECT_LT(log.find('\n', at) - at, 1'000);
  }
  EXPECT_GE(reports, 1);
  EXPECT_LE(reports, seconds.count() + 1);
}

}  // namespace
}  // namespace dutiful
