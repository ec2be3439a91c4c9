#include "metrics/metrics.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "metrics/metrics_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::Not;
using testing::Pair;

event::TaskRunStarted started(std::string task, Reason reason, Duration late) {
  return {.task = std::move(task),
          .scheduled = Observed::noon - late,
          .actual = Observed::noon,
          .reason = reason};
}

event::TaskRunCompleted completed(std::string task, Reason reason, Duration duration) {
  return {.task = std::move(task), .duration = duration, .reason = reason};
}

event::TaskRunFailed failed(std::string task, Reason reason, Duration duration) {
  return {.task = std::move(task), .duration = duration, .error = "no", .reason = reason};
}

TEST(Metrics, count_the_runs_of_a_task_by_result_and_reason) {
  Observed daemon;
  daemon.load({"a", "b"});
  daemon.add(completed("a", Reason::cron, 250ms));
  daemon.add(completed("a", Reason::cron, 1s));
  daemon.add(failed("a", Reason::boot, 2s));
  daemon.add(completed("b", Reason::orphan, 1ms));

  EXPECT_THAT(
      daemon.samples(),
      AllOf(Contains(
                Pair(R"(dutiful_task_runs_total{task="a",result="success",reason="cron"})", "2")),
            Contains(
                Pair(R"(dutiful_task_runs_total{task="a",result="failure",reason="boot"})", "1")),
            Contains(
                Pair(R"(dutiful_task_runs_total{task="b",result="success",reason="orphan"})", "1")),
            // A series exists before it counts, so that the first count is an increase.
            Contains(
                Pair(R"(dutiful_task_runs_total{task="b",result="failure",reason="retry"})", "0")),
            Contains(Pair(R"(dutiful_task_duration_seconds_sum{task="a"})", "3.250")),
            Contains(Pair(R"(dutiful_task_duration_seconds_count{task="a"})", "3")),
            Contains(Pair(R"(dutiful_run_duration_seconds_bucket{le="0.001"})", "1")),
            Contains(Pair(R"(dutiful_run_duration_seconds_bucket{le="1"})", "3")),
            Contains(Pair(R"(dutiful_run_duration_seconds_bucket{le="+Inf"})", "4"))));
}

TEST(Metrics, measure_how_late_a_run_starts) {
  Observed daemon;
  daemon.load({"a"});
  daemon.add(started("a", Reason::cron, 20ms));
  daemon.add(started("a", Reason::retry, 1s));
  daemon.add(started("a", Reason::orphan, 1h));
  daemon.add(started("a", Reason::boot, 30s));  // as old as its minute, and not late
  daemon.add(started("a", Reason::cron, -5s));  // the clock was set back: not late

  EXPECT_THAT(daemon.samples(),
              AllOf(Contains(Pair(R"(dutiful_task_lateness_seconds_sum{task="a"})", "3601.020")),
                    Contains(Pair(R"(dutiful_task_lateness_seconds_count{task="a"})", "4")),
                    Contains(Pair(R"(dutiful_run_lateness_seconds_bucket{le="1"})", "3")),
                    Contains(Pair("dutiful_run_lateness_seconds_count", "4")),
                    Contains(Pair(R"(dutiful_task_retries_total{task="a"})", "1"))));
}

TEST(Metrics, count_the_pulses_of_a_task_by_fate) {
  Observed daemon;
  daemon.load({"a"});
  for (int i = 0; i < 2; ++i) {
    auto event = started("a", Reason::cron, 0ms);
    event.served = {.run = 1, .running = 2, .orphan = 3};
    daemon.add(event);
  }
  EXPECT_THAT(daemon.samples(),
              AllOf(Contains(Pair(R"(dutiful_task_pulses_total{task="a",fate="run"})", "2")),
                    Contains(Pair(R"(dutiful_task_pulses_total{task="a",fate="running"})", "4")),
                    Contains(Pair(R"(dutiful_task_pulses_total{task="a",fate="orphan"})", "6")),
                    Contains(Pair(R"(dutiful_task_pulses_total{task="a",fate="limit"})", "0")),
                    Contains(Pair(R"(dutiful_task_pulses_total{task="",fate="run"})", "0"))));
}

TEST(Metrics, count_interrupted_runs_of_a_task) {
  Observed daemon;
  daemon.load({"a"});
  daemon.add(event::TaskOrphaned{.task = "a", .last_execution = Observed::noon, .scheduler = "x"});
  EXPECT_THAT(daemon.samples(), Contains(Pair(R"(dutiful_task_orphans_total{task="a"})", "1")));
}

TEST(Metrics, show_the_state_of_a_task) {
  Observed daemon;
  daemon.load({"a", "b"});
  TaskStatus& a = daemon.status("a");
  a.state = TaskStatus::State::running;
  a.last_success = Observed::noon - 1h;
  a.last_failure = Observed::noon - 2h;
  a.next_pulse = Observed::noon + 1min;
  TaskStatus& b = daemon.status("b");
  b.state = TaskStatus::State::awaiting_retry;
  b.last_failure = Observed::noon - 1h;
  b.retry_at = Observed::noon - 1min;
  b.next_pulse = Observed::noon + 1h;
  b.overdue_since = Observed::noon - 1min;

  const auto samples = daemon.samples();
  EXPECT_THAT(
      samples,
      AllOf(
          Contains(Pair(R"(dutiful_task_running{task="a"})", "1")),
          Contains(Pair(R"(dutiful_task_running{task="b"})", "0")),
          Contains(Pair(R"(dutiful_task_failing{task="a"})", "0")),
          Contains(Pair(R"(dutiful_task_failing{task="b"})", "1")),
          Contains(Pair(R"(dutiful_task_last_success_timestamp_seconds{task="a"})", "1740999600")),
          Contains(Pair(R"(dutiful_task_next_due_timestamp_seconds{task="a"})", "1741003260")),
          Contains(Pair(R"(dutiful_task_next_due_timestamp_seconds{task="b"})", "1741003140")),
          Contains(
              Pair(R"(dutiful_task_overdue_since_timestamp_seconds{task="b"})", "1741003140"))));
  EXPECT_FALSE(samples.contains(R"(dutiful_task_last_success_timestamp_seconds{task="b"})"));
  EXPECT_FALSE(samples.contains(R"(dutiful_task_overdue_since_timestamp_seconds{task="a"})"));
  EXPECT_THAT(samples,
              AllOf(Contains(Pair(R"(dutiful_tasks{state="running"})", "1")),
                    Contains(Pair(R"(dutiful_tasks{state="awaiting_retry"})", "1")),
                    Contains(Pair(R"(dutiful_tasks{state="awaiting_run"})", "0")),
                    Contains(Pair("dutiful_tasks_failing", "1")),
                    Contains(Pair("dutiful_tasks_overdue", "1")),
                    Contains(Pair("dutiful_tasks_overdue_since_timestamp_seconds", "1741003140"))));
}

TEST(Metrics, show_what_the_daemon_does) {
  Observed daemon;
  daemon.add(event::StoreCommitted{.tasks = 3, .duration = 4ms});
  daemon.add(event::StoreFailed{.error = "full", .next_try = Observed::noon});
  daemon.add(event::TheoryViolated{.axiom = "S1", .violated = {}, .blame = {}, .error = {}});
  daemon.add(event::HistoryFailed{.error = "full", .waiting = 7, .lost = 2});
  daemon.add(event::HistoryRecovered{.written = 5, .lost = 1});
  daemon.add(event::TaskFileRejected{"x"});
  daemon.add(event::NotificationFailed{.task = "a", .notification = "on_failure", .error = "x"});
  daemon.add(event::NotificationsDropped{.count = 4});
  daemon.input.status.running = 3;
  daemon.input.status.max_concurrent = 64;
  daemon.input.status.store_failing_since = Observed::noon;
  daemon.input.version = "1.2.3";
  daemon.input.log_lines_lost = 9;
  daemon.input.process.cpu = 12'340ms;

  EXPECT_THAT(
      daemon.samples(),
      AllOf(Contains(Pair(R"(dutiful_store_transaction_duration_seconds_bucket{le="0.002"})", "0")),
            Contains(Pair(R"(dutiful_store_transaction_duration_seconds_bucket{le="0.005"})", "1")),
            Contains(Pair("dutiful_store_transaction_duration_seconds_sum", "0.004")),
            Contains(Pair("dutiful_store_tasks_recorded_total", "3")),
            Contains(Pair("dutiful_store_failures_total", "1")),
            Contains(Pair("dutiful_store_failing", "1")),
            Contains(Pair("dutiful_theory_violations_total", "1")),
            Contains(Pair("dutiful_history_runs_lost_total", "3")),
            Contains(Pair("dutiful_notifications_failed_total", "1")),
            Contains(Pair("dutiful_notifications_dropped_total", "4")),
            Contains(Pair("dutiful_log_lines_lost_total", "9"))));
  EXPECT_THAT(
      daemon.samples(),
      AllOf(Contains(Pair("dutiful_runs_in_progress", "3")),
            Contains(Pair("dutiful_runs_in_progress_limit", "64")),
            Contains(Pair(R"(dutiful_build_info{version="1.2.3"})", "1")),
            Contains(Pair(R"(dutiful_events_total{event="TaskFileRejected",level="error"})", "1")),
            Contains(Pair(R"(dutiful_events_total{event="TraceFailed",level="error"})", "0")),
            Contains(Pair("process_cpu_seconds_total", "12.340"))));
}

TEST(Metrics, have_an_infinite_limit_if_there_is_none) {
  EXPECT_THAT(Observed{}.samples(), Contains(Pair("dutiful_runs_in_progress_limit", "+Inf")));
}

TEST(Metrics, leave_out_what_the_system_does_not_say) {
  const auto samples = Observed{}.samples();
  EXPECT_FALSE(samples.contains("process_open_fds"));
  EXPECT_FALSE(samples.contains("process_start_time_seconds"));
}

std::set<std::string> tasks_with_series(const Observed& daemon) {
  std::set<std::string> tasks;
  const std::regex series{R"re(dutiful_task_retries_total\{task="(.+)"\})re"};
  for (const auto& [name, value] : daemon.samples()) {
    std::smatch parts;
    if (std::regex_match(name, parts, series)) tasks.insert(parts[1]);
  }
  return tasks;
}

TEST(Metrics, give_series_to_the_first_tasks_by_name) {
  Observed daemon{2};
  daemon.load({"a", "b", "c", "d"});
  for (const char* task : {"a", "c", "d"}) daemon.add(started(task, Reason::retry, 1s));

  const auto samples = daemon.samples();
  EXPECT_EQ(tasks_with_series(daemon), (std::set<std::string>{"a", "b"}));
  EXPECT_THAT(samples,
              AllOf(Contains(Pair(R"(dutiful_task_retries_total{task="a"})", "1")),
                    Contains(Pair(R"(dutiful_task_retries_total{task=""})", "2")),
                    Contains(Pair("dutiful_tasks_without_series", "2")),
                    Contains(Pair(R"(dutiful_task_running{task="b"})", "0"))));
  EXPECT_FALSE(samples.contains(R"(dutiful_task_running{task="c"})"));
  EXPECT_FALSE(samples.contains(R"(dutiful_task_running{task=""})"));
}

TEST(Metrics, leave_a_task_its_series_until_it_is_removed) {
  Observed daemon{2};
  daemon.load({"b", "c", "d"});
  daemon.load({"a", "b", "c", "d"});
  EXPECT_EQ(tasks_with_series(daemon), (std::set<std::string>{"b", "c"}));
  daemon.load({"a", "c", "d"});
  EXPECT_EQ(tasks_with_series(daemon), (std::set<std::string>{"a", "c"}));
}

TEST(Metrics, forget_what_a_removed_task_counted) {
  Observed daemon;
  daemon.load({"a", "b"});
  daemon.add(completed("a", Reason::cron, 1s));
  daemon.load({"b"});
  daemon.add(failed("a", Reason::cron, 1s));  // it still ran

  const auto samples = daemon.samples();
  EXPECT_EQ(tasks_with_series(daemon), (std::set<std::string>{"b"}));
  EXPECT_THAT(
      samples,
      AllOf(
          Contains(Pair(R"(dutiful_task_runs_total{task="",result="failure",reason="cron"})", "1")),
          Contains(Pair(R"(dutiful_task_runs_total{task="",result="success",reason="cron"})", "0")),
          Contains(Pair("dutiful_run_duration_seconds_count", "2"))));

  daemon.load({"a", "b"});
  EXPECT_THAT(
      daemon.samples(),
      Contains(Pair(R"(dutiful_task_runs_total{task="a",result="success",reason="cron"})", "0")));
}

TEST(Metrics, give_one_task_the_label_that_two_would_have) {
  Observed daemon;
  daemon.load({"a\xff", R"(a\xff)"});
  daemon.add(started("a\xff", Reason::retry, 1s));
  daemon.add(started(R"(a\xff)", Reason::retry, 1s));
  EXPECT_THAT(daemon.samples(),  // throws if a series is there twice
              AllOf(Contains(Pair(R"(dutiful_task_retries_total{task="a\\xff"})", "1")),
                    Contains(Pair(R"(dutiful_task_retries_total{task=""})", "1")),
                    Contains(Pair("dutiful_tasks_without_series", "1"))));

  // When one is gone, the other takes it.
  daemon.load({"a\xff"});
  daemon.load({R"(a\xff)"});
  EXPECT_EQ(tasks_with_series(daemon), (std::set<std::string>{R"(a\\xff)"}));
}

bool is_counter(const std::string& series) {
  const std::string name = series.substr(0, series.find('{'));
  return name.ends_with("_total") || name.ends_with("_count") || name.ends_with("_sum") ||
         name.ends_with("_bucket");
}

// Each series of `before` that counts, except those of the removed tasks, is not smaller in
// `after`.
void check_that_counters_grew(const std::map<std::string, std::string>& before,
                              const std::map<std::string, std::string>& after,
                              const std::set<std::string>& removed) {
  for (const auto& [series, value] : before) {
    if (!is_counter(series)) continue;
    const auto is_of = [&](const std::string& task) {
      return series.find("task=\"" + task + '"') != std::string::npos;
    };
    if (std::ranges::any_of(removed, is_of)) continue;
    const auto now = after.find(series);
    RC_ASSERT(now != after.end());
    RC_ASSERT(std::stod(now->second) >= std::stod(value));
  }
}

// Whatever is reloaded and whatever runs, a counter only grows as long as its task is in the list.
TEST(Metrics, have_counters_that_never_go_down) {
  const bool held = rc::check([] {
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
    Observed daemon{*rc::gen::inRange<std::size_t>(0, 7)};
    std::set<std::string> list;
    auto before = daemon.samples();
    for (int reloads = *rc::gen::inRange(1, 6); reloads > 0; --reloads) {
      for (int runs = *rc::gen::inRange(0, 10); runs > 0; --runs) {
        const std::string task = *rc::gen::elementOf(names);
        const auto reason = static_cast<Reason>(*rc::gen::inRange(0, 4));
        daemon.add(started(task, reason, Duration{*rc::gen::inRange(-1000, 100'000)}));
        const Duration duration{*rc::gen::inRange(0, 100'000)};
        if (*rc::gen::arbitrary<bool>()) {
          daemon.add(completed(task, reason, duration));
        } else {
          daemon.add(failed(task, reason, duration));
        }
      }
      std::set<std::string> next;
      std::set<std::string> removed;
      for (const std::string& name : names) {
        if (*rc::gen::arbitrary<bool>()) next.insert(name);
      }
      std::ranges::set_difference(list, next, std::inserter(removed, removed.end()));
      daemon.load(list = next);

      const auto after = daemon.samples();
      check_that_counters_grew(before, after, removed);
      before = after;
    }
  });
  EXPECT_TRUE(held);
}

// X3: a daemon that is reloaded for years remembers only the tasks that it has.
TEST(Metrics, do_not_grow_with_reloads) {
  Observed daemon{10};
  std::size_t size = 0;
  for (int reload = 1000; reload < 1100; ++reload) {
    std::set<std::string> list;
    for (int task = 0; task < 20; ++task) {
      list.insert(std::to_string(reload) + '-' + std::to_string(10 + task));
    }
    daemon.load(list);
    if (reload == 1000) size = daemon.page().size();
    EXPECT_EQ(tasks_with_series(daemon).size(), 10);
  }
  EXPECT_LT(daemon.page().size(), size + 100);  // some counters have more digits
}

TEST(Metrics, are_counted_and_shown_by_many_threads) {
  Observed daemon;
  daemon.load({"a", "b"});
  std::atomic<bool> done = false;
  std::thread scraper{[&] {
    while (!done) (void)daemon.samples();
  }};
  constexpr int events = 2000;
  const auto count = [&](const std::string& task) {
    for (int i = 0; i < events; ++i) {
      daemon.add(completed(task, Reason::cron, 1ms));
      if (i % 100 == 0) daemon.add(event::TaskRemoved{.task = "b"});
      if (i % 100 == 50) daemon.add(event::TaskPreserved{.task = "b"});
    }
  };
  std::thread other{count, "b"};
  count("a");
  other.join();
  done = true;
  scraper.join();
  EXPECT_THAT(
      daemon.samples(),
      AllOf(Contains(Pair("dutiful_run_duration_seconds_count", std::to_string(2 * events))),
            Contains(
                Pair(R"(dutiful_task_duration_seconds_count{task="a"})", std::to_string(events)))));
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file{std::filesystem::path{DUTIFUL_TEST_DATA} / "../.." / path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// "| `name` | counter | …" in docs/metrics.md
TEST(Metrics, are_documented_with_their_types) {
  const std::string document = read("docs/metrics.md");
  std::set<std::string> documented;
  const std::regex row{R"(\n\| `([a-z_]+)` \| ([a-z]+) \|)"};
  for (std::sregex_iterator found{document.begin(), document.end(), row}, end; found != end;
       ++found) {
    documented.insert((*found)[1].str() + ' ' + (*found)[2].str());
  }
  EXPECT_EQ(documented, families_of(Observed{}.page()));
}

// The metrics that a file names.
std::set<std::string> metrics_in(const std::string& text) {
  std::set<std::string> names;
  const std::regex name{R"((dutiful|process)_[a-z_]+)"};
  for (std::sregex_iterator found{text.begin(), text.end(), name}, end; found != end; ++found) {
    names.insert(found->str());
  }
  return names;
}

// An alert on a metric that does not exist never fires, and nobody notices.
TEST(Metrics, exist_if_the_alerts_or_the_dashboard_name_them) {
  std::set<std::string> existing;
  for (std::string family : families_of(Observed{}.page())) {
    const std::size_t space = family.find(' ');
    const std::string type = family.substr(space + 1);
    family.erase(space);
    existing.insert(family);
    if (type == "summary" || type == "histogram") {
      existing.insert({family + "_sum", family + "_count"});
    }
    if (type == "histogram") existing.insert(family + "_bucket");
  }
  for (const char* file : {"packaging/prometheus/dutiful.rules.yml",
                           "packaging/prometheus/dutiful.rules.test.yml",
                           "packaging/grafana/dutiful.json"}) {
    const std::set<std::string> named = metrics_in(read(file));
    EXPECT_GT(named.size(), 5) << file;
    for (const std::string& name : named) {
      EXPECT_TRUE(existing.contains(name)) << file << " names " << name;
    }
  }
}

}  // namespace
}  // namespace dutiful
