#include "daemon/pages.h"

#include <list>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "page/assets.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class PagesTest : public testing::Test {
 protected:
  [[nodiscard]] std::optional<http::Response> get(std::vector<std::string> segments,
                                                  std::vector<http::Field> query = {}) const {
    http::Request request;
    request.segments = std::move(segments);
    request.query = std::move(query);
    return pages.answer(request);
  }
  [[nodiscard]] std::string html(std::vector<std::string> segments,
                                 std::vector<http::Field> query = {}) const {
    return std::get<std::string>(get(std::move(segments), std::move(query))->body);
  }
  void add_tasks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      names.push_back("task " + std::to_string(i));
      status.tasks.push_back({.name = names.back(), .cron = "* * * * *"});
    }
  }

  std::list<std::string> names;
  SchedulerStatus status{.at = at("2025-03-03T10:05:00Z")};
  RecentRuns recent{};
  Pages pages{{.status = [this] { return status; },
               .recent = [this] { return [this](std::string_view) { return recent; }; },
               .has_runs = [](const std::string& task) { return task == "removed"; },
               .zone = Zone::load("America/New_York")}};
};

TEST_F(PagesTest, show_the_tasks_that_need_attention_first) {
  status.tasks = {
      {.name = "good", .cron = "0 5 * * *", .next_pulse = at("2025-03-04T10:00:00Z")},
      {.name = "late", .cron = "* * * * *", .overdue_since = at("2025-03-03T10:00:00Z")},
      {.name = "works", .cron = "* * * * *", .state = TaskStatus::State::running},
      {.name = "zfails",
       .cron = "* * * * *",
       .state = TaskStatus::State::awaiting_retry,
       .last_attempt = at("2025-03-03T10:04:00Z"),
       .retry_at = at("2025-03-03T10:10:00Z")}};
  recent = {.results = "sf", .duration = 1500ms, .error = "exit status 3"};
  const std::string page = html({});
  EXPECT_THAT(page, HasSubstr("4 tasks · 1 failing · 1 overdue · 1 running"));
  const std::vector<std::size_t> places{
      page.find("zfails"), page.find("late"), page.find("works"), page.find("good")};
  EXPECT_TRUE(std::ranges::is_sorted(places));
  EXPECT_THAT(page, HasSubstr("Failing, retry at 2025-03-03 05:10:00 -05:00"));  // in local time
  EXPECT_THAT(page, HasSubstr("failed in 1s500ms, 2025-03-03 05:04:00 -05:00<br>exit status 3"));
  EXPECT_THAT(page, HasSubstr("<td>2025-03-04 05:00:00 -05:00</td>"));
  EXPECT_THAT(page, Not(HasSubstr("05:03:00")));  // the attempt that runs has no result yet
}

TEST_F(PagesTest, say_why_a_task_needs_attention_even_while_it_runs) {
  status.tasks = {{.name = "fails",
                   .cron = "* * * * *",
                   .state = TaskStatus::State::running,
                   .last_failure = at("2025-03-03T10:04:00Z")},
                  {.name = "late",
                   .cron = "* * * * *",
                   .state = TaskStatus::State::running,
                   .overdue_since = at("2025-03-03T10:00:00Z")}};
  const std::string page = html({});
  recent.duration = 42min + 38s + 248ms;
  EXPECT_THAT(html({}), HasSubstr(" in 42m38s<"));
  EXPECT_THAT(page, HasSubstr("<td>Failing, running</td>"));
  EXPECT_THAT(page, HasSubstr("<td>Overdue since 2025-03-03 05:00:00 -05:00, running</td>"));
}

TEST_F(PagesTest, have_a_hundred_tasks_each) {
  add_tasks(250);
  EXPECT_THAT(html({}), HasSubstr("Page 1 of 3"));
  EXPECT_THAT(html({}), HasSubstr(R"(<a rel="next" href="/?page=2">)"));
  EXPECT_THAT(html({}), Not(HasSubstr("task 100<")));
  const std::string last = html({}, {{"page", "3"}});
  EXPECT_THAT(last, HasSubstr("task 249<"));
  EXPECT_THAT(last, HasSubstr(R"(<a rel="prev" href="/?page=2">)"));
  EXPECT_THAT(last, Not(HasSubstr("rel=\"next\"")));
  for (const char* page : {"4", "99999999999999999999", "9223372036854775807"}) {
    EXPECT_EQ(get({}, {{"page", page}})->status, 200U) << page;
  }
  EXPECT_THAT(html({}, {{"page", "9223372036854775807"}}), HasSubstr("Page 3 of 3"));
  EXPECT_THAT(html({}, {{"page", "x"}, {"q", "of the script"}}), HasSubstr("Page 1 of 3"));
}

TEST_F(PagesTest, let_no_name_become_markup) {
  status.tasks = {{.name = "<script>alert(1)</script>", .cron = "* * * * *"},
                  {.name = "..", .cron = "* * * * *"}};
  recent.error = "</td><script>";
  recent.results = "f";
  const std::string page = html({});
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr(R"(<a href="/tasks/%3Cscript%3Ealert(1)%3C%2Fscript%3E">)"));
  EXPECT_THAT(page, HasSubstr("<td><bdi>..</bdi></td>"));
  EXPECT_THAT(html({"tasks", "<script>"}), Not(HasSubstr("<script>")));
}

TEST_F(PagesTest, exist_for_tasks_that_exist_or_have_runs) {
  add_tasks(1);
  EXPECT_EQ(get({"tasks", "task 0"})->status, 200U);
  EXPECT_EQ(get({"tasks", "removed"})->status, 200U);
  EXPECT_EQ(get({"tasks", "other"})->status, 404U);
  EXPECT_THAT(html({"tasks", "other"}), HasSubstr("There is no task"));
  for (const auto& path : std::vector<std::vector<std::string>>{{"timeline"}, {"runs"}}) {
    EXPECT_EQ(get(path)->status, 200U);
    EXPECT_THAT(html(path), HasSubstr("<noscript>"));
  }
}

TEST_F(PagesTest, leave_other_addresses_to_the_api) {
  for (const auto& path : std::vector<std::vector<std::string>>{
           {"api", "v1", "tasks"}, {"metrics"}, {"tasks"}, {"tasks", "a", "b"}, {"timeline", ""}}) {
    EXPECT_FALSE(get(path)) << testing::PrintToString(path);
  }
  EXPECT_EQ(get({"page", std::string{page::version()}, "main.js"})->status, 200U);
}

}  // namespace
}  // namespace dutiful
