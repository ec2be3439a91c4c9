#include "http/admission.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/connections.h"

namespace dutiful::http {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const Field host{"Host", "localhost:8470"};

class Admit : public ::testing::Test {
 protected:
  Admit() {
    connection_.client = "127.0.0.1";
    connection_.local_address = "127.0.0.1";
  }

  Admission request(std::vector<Field> headers,
                    const std::string& target = "/",
                    const std::string& method = "GET",
                    const std::string& version = "HTTP/1.1") const {
    return admit({.method = method,
                  .version = version,
                  .target = target,
                  .headers = std::move(headers),
                  .headers_size = headers_size_},
                 connection_,
                 rules_);
  }
  // 200 if it reaches the handler.
  template <typename... Arguments>
  unsigned status(Arguments... arguments) const {
    const Admission admission = request(std::move(arguments)...);
    return admission.refusal ? admission.refusal->status : 200;
  }

  Connection connection_;
  AdmissionRules rules_;
  std::size_t headers_size_ = 100;
};

using Headers = std::vector<Field>;

TEST_F(Admit, passes_on_what_was_sent) {
  const Admission admission = request({host, {"X-A", "b"}}, "/a%20b?c=d", "HEAD");
  ASSERT_FALSE(admission.refusal);
  EXPECT_EQ(admission.request.method, Request::Method::head);
  EXPECT_EQ(admission.request.path, "/a%20b");
  EXPECT_EQ(admission.request.segments, std::vector<std::string>{"a b"});
  EXPECT_EQ(admission.request.client, "127.0.0.1");
  ASSERT_NE(admission.request.header("x-a"), nullptr);
  EXPECT_EQ(*admission.request.header("x-a"), "b");
  EXPECT_EQ(admission.request.header("x-b"), nullptr);
  ASSERT_NE(admission.request.parameter("c"), nullptr);
  EXPECT_EQ(*admission.request.parameter("c"), "d");
  EXPECT_EQ(admission.request.parameter("C"), nullptr);
}

TEST_F(Admit, wants_one_host) {
  EXPECT_EQ(status(Headers{}), 400);
  EXPECT_EQ(status(Headers{host, host}), 400);
  EXPECT_EQ(status(Headers{{"host", "localhost"}, {"HOST", "evil.example"}}), 400);
  EXPECT_EQ(status(Headers{}, "/", "GET", "HTTP/1.0"), 200);
  EXPECT_EQ(status(Headers{{"Host", "evil.example"}}, "/", "GET", "HTTP/1.0"), 421);
}

// RFC 9112, 5.1: another program could take "Content-Length " for the length of a body, so what
// follows such a header is not read.
TEST_F(Admit, refuses_names_of_headers_with_spaces) {
  for (const char* name : {"Host ", "Content-Length ", "X\t", " X", "X Y", ""}) {
    SCOPED_TRACE(name);
    for (const char* version : {"HTTP/1.0", "HTTP/1.1"}) {
      const Admission admission = request({host, {name, "0"}}, "/", "GET", version);
      ASSERT_TRUE(admission.refusal);
      EXPECT_EQ(admission.refusal->status, 400);
      EXPECT_THAT(admission.refusal->headers, Contains(Field{"Connection", "close"}));
    }
  }
}

TEST_F(Admit, refuses_and_reports_the_host_of_another) {
  const Admission admission = request({{"Host", "evil.example"}});
  ASSERT_TRUE(admission.refusal);
  EXPECT_EQ(admission.refusal->status, 421);
  EXPECT_THAT(std::get<std::string>(admission.refusal->body), HasSubstr("--listen-host"));
  EXPECT_EQ(admission.reason, "the header Host names another server: \"evil.example\"");

  rules_.hosts = {"evil.example"};
  EXPECT_EQ(status(Headers{{"Host", "evil.example"}}), 200);
}

TEST_F(Admit, takes_any_host_on_a_unix_socket) {
  connection_.on_unix_socket = true;
  connection_.local_address.clear();
  EXPECT_EQ(status(Headers{{"Host", "cron.example.com"}}), 200);
  EXPECT_EQ(status(Headers{}), 400);
}

TEST_F(Admit, allows_only_reading) {
  for (const char* method :
       {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "GETX", "*"}) {
    SCOPED_TRACE(method);
    const Admission admission = request({host}, "/", method);
    ASSERT_TRUE(admission.refusal);
    EXPECT_EQ(admission.refusal->status, 405);
    EXPECT_THAT(admission.refusal->headers, Contains(Field{"Allow", "GET, HEAD"}));
    EXPECT_EQ(admission.reason, "");
  }
  EXPECT_EQ(status(Headers{host}, "*", "OPTIONS"), 405);
}

TEST_F(Admit, takes_no_body) {
  EXPECT_EQ(status(Headers{host, {"Content-Length", "1"}}), 413);
  EXPECT_EQ(status(Headers{host, {"Transfer-Encoding", "chunked"}}), 413);
  EXPECT_EQ(status(Headers{host, {"Content-Length", "0"}}), 200);
}

TEST_F(Admit, bounds_the_target_and_the_headers) {
  EXPECT_EQ(status(Headers{host}, "/" + std::string(rules_.limits.target_max - 1, 'a')), 200);
  EXPECT_EQ(status(Headers{host}, "/" + std::string(rules_.limits.target_max, 'a')), 414);
  Headers many(rules_.limits.header_count_max - 1, {"A", "b"});
  many.push_back(host);
  EXPECT_EQ(status(many), 200);
  many.push_back({"A", "b"});
  EXPECT_EQ(status(many), 431);
  headers_size_ = rules_.limits.headers_max + 1;
  EXPECT_EQ(status(Headers{host}), 431);
}

TEST_F(Admit, refuses_a_target_that_cannot_be_decoded) {
  EXPECT_EQ(status(Headers{host}, "/%"), 400);
  EXPECT_EQ(status(Headers{host}, "/a/../b"), 400);
  EXPECT_EQ(status(Headers{host}, "http://localhost/"), 400);
  EXPECT_EQ(status(Headers{host}, "/a b"), 400);
}

TEST_F(Admit, wants_the_token_if_there_is_one) {
  rules_.token.emplace("0123456789abcdef");
  const Admission without = request({host});
  ASSERT_TRUE(without.refusal);
  EXPECT_EQ(without.refusal->status, 401);
  EXPECT_EQ(without.reason, "there is no token");
  EXPECT_THAT(without.refusal->headers,
              Contains(Field{"WWW-Authenticate", R"(Basic realm="dutiful", charset="UTF-8")"}));
  EXPECT_THAT(without.refusal->headers,
              Contains(Field{"WWW-Authenticate", R"(Bearer realm="dutiful")"}));

  const Admission wrong = request({host, {"Authorization", "Bearer fedcba9876543210"}});
  ASSERT_TRUE(wrong.refusal);
  EXPECT_EQ(wrong.refusal->status, 401);
  EXPECT_EQ(wrong.reason, "the token is wrong");

  EXPECT_EQ(status(Headers{host, {"Authorization", "Bearer 0123456789abcdef"}}), 200);
}

TEST_F(Admit, wants_no_token_of_a_probe) {
  rules_.token.emplace("0123456789abcdef");
  rules_.needs_no_token = [](std::string_view path) { return path == "/healthz"; };
  EXPECT_EQ(status(Headers{host}, "/healthz"), 200);
  EXPECT_EQ(status(Headers{host}, "/healthz?x"), 200);
  EXPECT_EQ(status(Headers{host}, "/healthz/"), 401);
  EXPECT_EQ(status(Headers{host}, "/%68ealthz"), 401);
  EXPECT_EQ(status(Headers{{"Host", "evil.example"}}, "/healthz"), 421);
}

}  // namespace
}  // namespace dutiful::http
