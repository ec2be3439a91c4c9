#include "http/event_hub.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

namespace dutiful::http {
namespace {

// Everything that is to be read, in pieces of this size.
std::string read_all(EventHub& hub, EventHub::Cursor& cursor, std::size_t piece = 7) {
  std::string text;
  std::string buffer(piece, '\0');
  for (std::size_t size = 1; (size = hub.read(cursor, buffer.data(), piece)) > 0;) {
    text.append(buffer, 0, size);
  }
  return text;
}

std::string event(int number, const std::string& data) {
  return "id: boot-" + std::to_string(number) + "\nevent: E\ndata: " + data + "\n\n";
}

std::string missed(int last, const std::string& count) {
  return "id: boot-" + std::to_string(last) + "\nevent: missed\ndata: {\"missed\": " + count +
         "}\n\n";
}

bool rings(EventHub& hub) {
  pollfd bell{.fd = hub.bell().descriptor(), .events = POLLIN, .revents = 0};
  const bool rung = poll(&bell, 1, 0) == 1;
  hub.bell().take();
  return rung;
}

TEST(EventHub, gives_new_events_to_whoever_has_none) {
  EventHub hub{{}, "boot"};
  hub.publish("E", "1");
  EventHub::Cursor cursor = hub.after("");
  EXPECT_EQ(read_all(hub, cursor), "");
  EXPECT_FALSE(hub.has_news(cursor));
  hub.publish("E", "2");
  hub.publish("E", "3");
  EXPECT_TRUE(hub.has_news(cursor));
  EXPECT_EQ(read_all(hub, cursor), event(2, "2") + event(3, "3"));
  EXPECT_FALSE(hub.has_news(cursor));
}

TEST(EventHub, continues_after_the_last_id) {
  EventHub hub{{}, "boot"};
  for (const char* data : {"1", "2", "3"}) hub.publish("E", data);
  for (const std::size_t piece : {1, 16, 10'000}) {
    EventHub::Cursor cursor = hub.after("boot-1");
    EXPECT_EQ(read_all(hub, cursor, piece), event(2, "2") + event(3, "3"));
  }
  EventHub::Cursor cursor = hub.after("boot-3");
  EXPECT_EQ(read_all(hub, cursor), "");
  cursor = hub.after("boot-0");
  EXPECT_EQ(read_all(hub, cursor), event(1, "1") + event(2, "2") + event(3, "3"));
}

TEST(EventHub, does_not_know_the_ids_of_another_daemon) {
  EventHub hub{{}, "boot"};
  hub.publish("E", "1");
  hub.publish("E", "2");
  for (const char* id : {"toob-1",
                         "boot",
                         "boot-",
                         "boot-x",
                         "boot-1x",
                         "boot--1",
                         "boot-+1",
                         "1",
                         "boot-3",
                         "boot-99999999999999999999999",
                         "boot2-1",
                         " boot-1"}) {
    SCOPED_TRACE(id);
    EventHub::Cursor cursor = hub.after(id);
    EXPECT_EQ(read_all(hub, cursor), missed(0, "null") + event(1, "1") + event(2, "2"));
  }
}

TEST(EventHub, keeps_a_bounded_number_of_events_and_says_how_many_are_missing) {
  EventHub hub{{.events_max = 4}, "boot"};
  EventHub::Cursor slow = hub.after("");
  for (int i = 1; i <= 10; ++i) {
    hub.publish("E", std::to_string(i));
    hub.collect();
  }
  EXPECT_TRUE(hub.has_lost(slow));
  const std::string expected =
      missed(6, "6") + event(7, "7") + event(8, "8") + event(9, "9") + event(10, "10");
  EXPECT_EQ(read_all(hub, slow), expected);
  EXPECT_FALSE(hub.has_lost(slow));
  EventHub::Cursor resumed = hub.after("boot-0");
  EXPECT_FALSE(hub.has_lost(resumed));  // it learns of it at once
  EXPECT_EQ(read_all(hub, resumed), expected);
  EventHub::Cursor later = hub.after("boot-6");
  EXPECT_EQ(read_all(hub, later), expected.substr(missed(6, "6").size()));
}

TEST(EventHub, keeps_a_bounded_number_of_bytes) {
  EventHub hub{{.bytes_max = 10'000}, "boot"};
  for (int i = 1; i <= 10; ++i) {
    hub.publish("E", std::string(3'000, 'x'));
    hub.collect();
  }
  EventHub::Cursor cursor = hub.after("boot-0");
  const std::string text = read_all(hub, cursor, 1024);
  EXPECT_TRUE(text.starts_with(missed(7, "7"))) << text.substr(0, 100);
  EXPECT_LE(text.size(), 10'100);
}

TEST(EventHub, completes_an_event_that_it_no_longer_keeps) {
  EventHub hub{{.events_max = 2}, "boot"};
  EventHub::Cursor cursor = hub.after("");
  hub.publish("E", "1");
  std::string text(5, '\0');
  ASSERT_EQ(hub.read(cursor, text.data(), 5), 5);
  for (const char* data : {"2", "3", "4"}) {
    hub.publish("E", data);
    hub.collect();
  }
  EXPECT_EQ(text + read_all(hub, cursor),
            event(1, "1") + missed(2, "1") + event(3, "3") + event(4, "4"));
}

TEST(EventHub, counts_what_does_not_fit_into_the_inbox) {
  EventHub hub{{.events_max = 2}, "boot"};
  EventHub::Cursor cursor = hub.after("");
  for (const char* data : {"1", "2", "3", "4", "5"}) hub.publish("E", data);
  EXPECT_EQ(read_all(hub, cursor), event(1, "1") + event(2, "2") + missed(5, "3"));
  hub.publish("E", "6");
  EXPECT_EQ(read_all(hub, cursor), event(6, "6"));
}

TEST(EventHub, counts_an_event_that_is_too_large) {
  EventHub hub{{.bytes_max = 1'000}, "boot"};
  EventHub::Cursor cursor = hub.after("");
  hub.publish("E", std::string(2'000, 'x'));
  hub.publish("E", "2");
  EXPECT_EQ(read_all(hub, cursor), event(1, "2") + missed(2, "1"));
}

TEST(EventHub, sends_json_on_one_line) {
  EventHub hub{{}, "boot"};
  EventHub::Cursor cursor = hub.after("");
  hub.publish("E", "{\n\"a\":\r\n1}");
  EXPECT_EQ(read_all(hub, cursor), event(1, "{ \"a\":  1}"));
}

TEST(EventHub, rings_for_listeners_and_before_the_inbox_is_full) {
  EventHub hub{{.events_max = 10}, "boot"};
  hub.publish("E", "1");
  EXPECT_FALSE(rings(hub));
  hub.add_listener();
  EventHub::Cursor cursor = hub.after("");
  hub.publish("E", "2");
  EXPECT_TRUE(rings(hub));
  hub.publish("E", "3");
  EXPECT_FALSE(rings(hub));  // it has been rung for this one too
  hub.collect();
  hub.publish("E", "4");
  EXPECT_TRUE(rings(hub));
  hub.collect();
  hub.remove_listener();

  int published = 0;
  while (!rings(hub)) {
    ASSERT_LT(published, 10);
    hub.publish("E", "x");
    ++published;
  }
  hub.collect();
}

TEST(EventHub, has_boots_that_differ) {
  EventHub first;
  EventHub second;
  first.publish("E", "1");
  EventHub::Cursor cursor = first.after("x");
  const std::string text = read_all(first, cursor);
  const std::string id = text.substr(4, text.find('\n') - 4);
  EventHub::Cursor other = second.after(id);
  EXPECT_NE(read_all(second, other).find("\"missed\": null"), std::string::npos);
}

TEST(EventHub, takes_events_of_several_threads_while_others_read) {
  EventHub hub{{.events_max = 100'000, .bytes_max = 100'000'000}, "boot"};
  constexpr int each = 5'000;
  EventHub::Cursor cursor = hub.after("");
  std::vector<std::thread> publishers;
  for (int thread = 0; thread < 3; ++thread) {
    publishers.emplace_back([&hub, thread] {
      for (int i = 0; i < each; ++i) hub.publish("E", std::to_string(thread));
    });
  }
  std::string text;
  while (std::ranges::count(text, '\n') < 4L * 3 * each) text += read_all(hub, cursor, 4096);
  for (std::thread& thread : publishers) thread.join();
  EXPECT_EQ(text.find("missed"), std::string::npos);
  EXPECT_NE(text.find("id: boot-15000\n"), std::string::npos);
}

}  // namespace
}  // namespace dutiful::http
