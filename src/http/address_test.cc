#include "http/address.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful::http {
namespace {

using Family = ListenAddress::Family;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal_of(const std::string& text) {
  try {
    return "accepted as " + parse_listen_address(text).to_string();
  } catch (const InvalidListenAddress& error) {
    return error.what();
  }
}

TEST(Address, is_an_ip_address_and_a_port_or_a_socket) {
  struct Case {
    std::string text, printed;
    Family family;
    bool needs_token;
  };
  const std::vector<Case> cases{
      {"127.0.0.1:8470", "127.0.0.1:8470", Family::ipv4, false},
      {"127.9.8.7:1", "127.9.8.7:1", Family::ipv4, false},
      {"[::1]:8470", "[::1]:8470", Family::ipv6, false},
      {"[0:0::0:1]:8470", "[::1]:8470", Family::ipv6, false},
      // Only IPv4: a client that tries [::1] first is refused there and tries the other.
      {"8470", "127.0.0.1:8470", Family::ipv4, false},
      {"localhost:8470", "127.0.0.1:8470", Family::ipv4, false},
      {"0", "127.0.0.1:0", Family::ipv4, false},
      {"[::1]:0", "[::1]:0", Family::ipv6, false},
      {"65535", "127.0.0.1:65535", Family::ipv4, false},
      {"0.0.0.0:80", "0.0.0.0:80", Family::ipv4, true},
      {"192.0.2.1:80", "192.0.2.1:80", Family::ipv4, true},
      {"[::]:80", "[::]:80", Family::ipv6, true},
      {"[2001:DB8::1]:80", "[2001:db8::1]:80", Family::ipv6, true},
      // An IPv4 address in disguise is not a loopback address of IPv6.
      {"[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", Family::ipv6, true},
      {"unix:/run/dutiful.sock", "unix:/run/dutiful.sock", Family::unix_socket, false},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    const ListenAddress address = parse_listen_address(one.text);
    EXPECT_EQ(address.to_string(), one.printed);
    EXPECT_EQ(address.family, one.family);
    EXPECT_EQ(address.needs_token(), one.needs_token);
    EXPECT_EQ(parse_listen_address(one.printed), address);
  }
}

TEST(Address, is_refused_with_the_value_and_the_remedy) {
  struct Case {
    std::string text, remedy;
  };
  const std::vector<Case> cases{
      {"", "127.0.0.1:8470"},
      {"65536", "0 to 65535"},
      {"99999999999999999999", "0 to 65535"},
      {"127.0.0.1", "the port is missing"},
      {"127.0.0.1:", "0 to 65535"},
      {"127.0.0.1:http", "0 to 65535"},
      {"127.0.0.1:-1", "0 to 65535"},
      {"127.0.0.1:+1", "0 to 65535"},
      {"127.0.0.1: 1", "0 to 65535"},
      {":8470", "0.0.0.0"},
      {"*:8470", "use an IP address"},
      {"example.com:8470", "not looked up"},
      {"127.1:8470", "use an IP address"},
      {"::1:8470", "needs brackets"},
      {"::1", "needs brackets"},
      {"[::1]", "needs brackets"},
      {"[::1:8470", "needs brackets"},
      {"[127.0.0.1]:8470", "[::1]:8470"},
      {"[fe80::1%eth0]:8470", "[::1]:8470"},
      {std::string{"127.0.0.1\0:1", 12}, "127.0.0.1:8470"},
      {"unix:", "absolute"},
      {"unix:dutiful.sock", "absolute"},
      {"unix:@dutiful", "absolute"},
      {"unix:/run/", "directory"},
      {std::string{"unix:/a\0b", 9}, "NUL"},
      {"unix:/" + std::string(107, 'a'), "may have 107"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    EXPECT_THAT(refusal_of(one.text), StartsWith("invalid listen address \""));
    EXPECT_THAT(refusal_of(one.text), HasSubstr(one.remedy));
  }
  EXPECT_THAT(refusal_of("unix:/" + std::string(106, 'a')), StartsWith("accepted as "));
}

}  // namespace
}  // namespace dutiful::http
