#include "http/host.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful::http {
namespace {

using ::testing::HasSubstr;

TEST(Host, is_the_address_at_which_the_connection_arrived) {
  EXPECT_TRUE(is_our_host("192.0.2.1:8470", "192.0.2.1", {}));
  EXPECT_TRUE(is_our_host("192.0.2.1", "192.0.2.1", {}));
  EXPECT_TRUE(is_our_host("[2001:DB8:0::1]:8470", "2001:db8::1", {}));
  EXPECT_FALSE(is_our_host("192.0.2.2", "192.0.2.1", {}));
  EXPECT_FALSE(is_our_host("localhost", "192.0.2.1", {}));
}

TEST(Host, may_be_any_name_of_the_loopback_with_any_port) {
  for (const char* host : {"localhost",
                           "LocalHost:8470",
                           "127.0.0.1",
                           "127.0.0.1:9000",
                           "127.1.2.3",
                           "[::1]",
                           "[::1]:8470",
                           "[0:0:0:0:0:0:0:1]",
                           "localhost:"}) {
    SCOPED_TRACE(host);
    EXPECT_TRUE(is_our_host(host, "127.0.0.1", {}));
    EXPECT_TRUE(is_our_host(host, "::1", {}));
  }
}

TEST(Host, of_somebody_else_is_recognized) {
  for (const char* host : {"",
                           "evil.example",
                           "evil.example:8470",
                           "localhost.evil.example",
                           "127.evil.example",
                           "127.0.0.1.evil.example",
                           "localhost:8470:8470",
                           "localhost:x",
                           "localhost@evil.example",
                           "evil.example#localhost",
                           "localhost ",
                           " localhost",
                           "[::1",
                           "::1",
                           "[127.0.0.1]",
                           "[::1]8470",
                           "[::1]x:1",
                           "localhost/",
                           "[]",
                           ":8470",
                           "localhost:123456",
                           "2130706433",
                           "0.0.0.0"}) {
    SCOPED_TRACE(host);
    EXPECT_FALSE(is_our_host(host, "127.0.0.1", {}));
  }
  EXPECT_FALSE(is_our_host(std::string_view{"localhost\0", 10}, "127.0.0.1", {}));
}

TEST(Host, may_be_one_that_was_given) {
  const std::vector<std::string> hosts{parse_listen_host("Cron.Example.com"),
                                       parse_listen_host("[2001:DB8::0:2]"),
                                       parse_listen_host("192.0.2.9")};
  EXPECT_TRUE(is_our_host("cron.example.COM:443", "192.0.2.1", hosts));
  EXPECT_TRUE(is_our_host("[2001:db8::2]", "192.0.2.1", hosts));
  EXPECT_TRUE(is_our_host("192.0.2.9", "192.0.2.1", hosts));
  EXPECT_FALSE(is_our_host("example.com", "192.0.2.1", hosts));
}

TEST(Host, is_given_without_a_port) {
  for (const char* text : {"", "a b", "cron.example.com:443", "*", "[::1", "http://a", "a/b"}) {
    SCOPED_TRACE(text);
    try {
      static_cast<void>(parse_listen_host(text));
      ADD_FAILURE() << "was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("without a port"));
    }
  }
}

}  // namespace
}  // namespace dutiful::http
