#include "http/connections.h"

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dutiful::http {
namespace {

using std::chrono::milliseconds;

constexpr Connections::Time start{};

// A connection, and the other end of it.
class Pair {
 public:
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~Pair() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] Connection connection(const std::string& client) const {
    Connection connection;
    connection.descriptor = ends_[0];
    connection.client = client;
    return connection;
  }
  [[nodiscard]] bool is_shut_down() const {
    pollfd end{.fd = ends_[1], .events = POLLIN, .revents = 0};
    return poll(&end, 1, 0) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

Limits few(unsigned per_client, unsigned connections = 1'000) {
  Limits limits;
  limits.connections_per_client_max = per_client;
  limits.connections_max = connections;
  limits.header_max = milliseconds{10};
  limits.request_max = milliseconds{30};
  return limits;
}

TEST(Connections, are_shut_down_at_their_deadlines) {
  Connections connections{few(10)};
  const Pair first;
  const Pair second;
  const auto one = connections.add(first.connection("a"), start);
  const auto two = connections.add(second.connection("b"), start + milliseconds{5});
  EXPECT_TRUE(one.is_next);
  EXPECT_FALSE(two.is_next);

  EXPECT_EQ(connections.shut_down_expired(start + milliseconds{9}), start + milliseconds{10});
  EXPECT_FALSE(first.is_shut_down());
  EXPECT_EQ(connections.shut_down_expired(start + milliseconds{10}), start + milliseconds{15});
  EXPECT_TRUE(first.is_shut_down());
  EXPECT_FALSE(second.is_shut_down());
}

TEST(Connections, have_longer_for_the_response_than_for_the_headers) {
  Connections connections{few(10)};
  const Pair pair;
  const auto one = connections.add(pair.connection("a"), start);
  connections.begin_request(*one.connection);
  EXPECT_EQ(connections.shut_down_expired(start + milliseconds{29}), start + milliseconds{30});

  EXPECT_FALSE(connections.end_request(*one.connection, start + milliseconds{29}));
  EXPECT_EQ(connections.shut_down_expired(start + milliseconds{58}), start + milliseconds{59});
  connections.begin_request(*one.connection);
  EXPECT_EQ(connections.shut_down_expired(start + milliseconds{58}), start + milliseconds{59});
  connections.clear_deadline(*one.connection);
  EXPECT_EQ(connections.shut_down_expired(start + milliseconds{99}), std::nullopt);
  EXPECT_FALSE(pair.is_shut_down());
}

TEST(Connections, wake_who_waits_for_a_later_deadline) {
  Connections connections{few(10)};
  const std::array<Pair, 3> pairs;
  const auto stream = connections.add(pairs[0].connection("a"), start);
  connections.clear_deadline(*stream.connection);
  EXPECT_EQ(connections.shut_down_expired(start), std::nullopt);
  const auto slow = connections.add(pairs[1].connection("a"), start);
  EXPECT_TRUE(slow.is_next);
  connections.begin_request(*slow.connection);
  EXPECT_EQ(connections.shut_down_expired(start), start + milliseconds{30});
  EXPECT_TRUE(connections.add(pairs[2].connection("a"), start).is_next);
}

TEST(Connections, are_bounded_for_each_client) {
  Connections connections{few(2)};
  const std::array<Pair, 5> pairs;
  const auto one = connections.add(pairs[0].connection("a"), start);
  EXPECT_FALSE(connections.add(pairs[1].connection("a"), start).refused);
  const auto three = connections.add(pairs[2].connection("a"), start);
  EXPECT_TRUE(three.refused);
  EXPECT_TRUE(pairs[2].is_shut_down());
  EXPECT_FALSE(connections.add(pairs[3].connection("b"), start).refused);

  connections.remove(three.connection);
  connections.remove(one.connection);
  EXPECT_FALSE(connections.add(pairs[4].connection("a"), start).refused);
}

TEST(Connections, are_not_bounded_for_a_client_of_a_unix_socket) {
  Connections connections{few(1)};
  const std::array<Pair, 2> pairs;
  for (const Pair& pair : pairs) {
    Connection connection = pair.connection("user 33");
    connection.on_unix_socket = true;
    EXPECT_FALSE(connections.add(std::move(connection), start).refused);
  }
}

TEST(Connections, of_an_ipv6_network_are_those_of_one_client) {
  Connections connections{few(1)};
  const std::array<Pair, 5> pairs;
  EXPECT_FALSE(connections.add(pairs[0].connection("2001:db8::1"), start).refused);
  EXPECT_TRUE(connections.add(pairs[1].connection("2001:db8::2:3:4:5"), start).refused);
  EXPECT_FALSE(connections.add(pairs[2].connection("2001:db8:0:1::1"), start).refused);
  EXPECT_FALSE(connections.add(pairs[3].connection("192.0.2.1"), start).refused);
  EXPECT_FALSE(connections.add(pairs[4].connection("192.0.2.2"), start).refused);

  EXPECT_EQ(network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("2001:db8::1:2:3:4"), "2001:db8::/64");
  EXPECT_EQ(network_of("::ffff:192.0.2.7"), "192.0.2.7");
}

TEST(Connections, that_wait_longest_for_a_request_make_room_for_others) {
  Connections connections{few(10, 3)};
  const std::array<Pair, 5> pairs;
  const auto busy = connections.add(pairs[0].connection("a"), start);
  connections.begin_request(*busy.connection);
  connections.add(pairs[1].connection("a"), start + milliseconds{1});
  EXPECT_FALSE(pairs[1].is_shut_down());
  Connection elsewhere = pairs[4].connection("a");
  elsewhere.listener = 1;
  connections.add(std::move(elsewhere), start);
  EXPECT_FALSE(pairs[1].is_shut_down());

  const auto third = connections.add(pairs[2].connection("a"), start + milliseconds{2});
  EXPECT_TRUE(pairs[1].is_shut_down());
  connections.begin_request(*third.connection);
  // The one that waits has just come.
  connections.add(pairs[3].connection("a"), start + milliseconds{3});
  EXPECT_FALSE(pairs[3].is_shut_down());
  // Now it has waited longer than the one whose response was sent.
  static_cast<void>(connections.end_request(*third.connection, start + milliseconds{4}));
  EXPECT_TRUE(pairs[3].is_shut_down());
  EXPECT_FALSE(pairs[2].is_shut_down());
  EXPECT_FALSE(pairs[0].is_shut_down());
  EXPECT_FALSE(pairs[4].is_shut_down());
}

TEST(Connections, are_all_shut_down_at_the_end_and_refused_from_then_on) {
  Connections connections{few(10)};
  const Pair first;
  const auto one = connections.add(first.connection("a"), start);
  std::thread thread{[&] {
    pollfd closed{.fd = one.connection->descriptor, .events = POLLIN, .revents = 0};
    poll(&closed, 1, -1);
    connections.remove(one.connection);
  }};
  connections.end(Connections::Time::max());  // returns when the last one is removed
  thread.join();
  EXPECT_TRUE(first.is_shut_down());

  const Pair late;
  EXPECT_TRUE(connections.add(late.connection("b"), start).refused);
  EXPECT_TRUE(late.is_shut_down());
  connections.end(start);  // and waits no longer than that
}

}  // namespace
}  // namespace dutiful::http
