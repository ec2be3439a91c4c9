#include "events/catalogue.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/typed_sink.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

template <std::size_t... place>
std::vector<std::string> rows_of_all(std::index_sequence<place...> /*all*/) {
  const auto row = []<typename What>(const What&) {
    constexpr const char* levels[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    return std::string{What::name} + ' ' + levels[static_cast<int>(What::level)];
  };
  return {row(std::variant_alternative_t<place, event::Any>{})...};
}

std::vector<std::string> rows_of_catalogue() {
  return rows_of_all(std::make_index_sequence<std::variant_size_v<event::Any>>{});
}

// "| `A`, `B` | INFO | …" -> "A INFO", "B INFO"
std::vector<std::string> rows_of_documentation() {
  std::ifstream file{std::filesystem::path{DUTIFUL_TEST_DATA} / "../../docs/events.md"};
  std::vector<std::string> rows;
  const std::regex row{R"(^\| (`[^|]*) \| ([A-Z]+) \|.*)"};
  const std::regex name{"`([A-Za-z]+)`"};
  for (std::string line; std::getline(file, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, row)) continue;
    const std::string names = parts[1];
    for (std::sregex_iterator found{names.begin(), names.end(), name}, end; found != end; ++found) {
      rows.push_back((*found)[1].str() + ' ' + parts[2].str());
    }
  }
  return rows;
}

// RULES V
TEST(Catalogue, is_documented_by_name_and_level) {
  EXPECT_THAT(rows_of_documentation(), testing::UnorderedElementsAreArray(rows_of_catalogue()));
}

TEST(Catalogue, gives_an_event_its_name_level_and_fields) {
  const TypedEvent failed{.at = at("2025-03-03T10:00:01Z"),
                          .what = event::TaskRunFailed{.task = "a",
                                                       .duration = 17ms,
                                                       .error = "exit status 1",
                                                       .next_retry = at("2025-03-03T10:05:01Z"),
                                                       .reason = Reason::retry,
                                                       .attempt = 2,
                                                       .process = 4711,
                                                       .exit_status = 1}};
  EXPECT_EQ(to_json(publish(failed)),
            R"({"time":"2025-03-03T10:00:01.000Z","level":"WARNING","event":"TaskRunFailed",)"
            R"("taskName":"a","duration":17,"success":false,"error":"exit status 1",)"
            R"("nextRetryAt":"2025-03-03T10:05:01.000Z","reason":"retry","attempt":2,)"
            R"("processId":4711,"exitStatus":1})");

  const TypedEvent overridden{
      .at = at("2025-03-03T10:00:00Z"),
      .what = event::TaskOverridden{.task = "a",
                                    .before = {.cron = "0 * * * *", .retry_delay = 1s},
                                    .after = {.cron = "5 * * * *", .retry_delay = 1s}}};
  EXPECT_EQ(to_json(publish(overridden)),
            R"({"time":"2025-03-03T10:00:00.000Z","level":"INFO","event":"TaskOverridden",)"
            R"("taskName":"a","changeType":"cronExpression",)"
            R"("oldState":{"cronExpression":"0 * * * *","retryDelayMs":1000},)"
            R"("newState":{"cronExpression":"5 * * * *","retryDelayMs":1000}})");
}

TEST(Catalogue, leaves_out_a_field_that_has_no_value) {
  const TypedEvent removed{.at = at("2025-03-03T10:00:00Z"),
                           .what = event::TaskRemoved{.task = "a"}};
  EXPECT_EQ(publish(removed).fields.size(), 1);
}

TEST(Catalogue, keeps_times_within_the_years_1_to_9999) {
  const TypedEvent failed{.at = Instant::max(),
                          .what = event::StoreFailed{.error = "x", .next_try = Instant::min()}};
  EXPECT_EQ(to_json(publish(failed)),
            R"({"time":"9999-12-31T23:59:59.999Z","level":"ERROR","event":"StoreFailed",)"
            R"("error":"x","nextTryAt":"0001-01-01T00:00:00.000Z"})");
}

TEST(TypedSink, publishes_events_for_a_public_sink) {
  std::vector<std::string> names;
  const TypedSink sink = typed_sink([&](const Event& event) { names.emplace_back(event.name); });
  sink({.at = Instant{}, .what = event::SchedulerStopped{}});
  EXPECT_THAT(names, testing::ElementsAre("SchedulerStopped"));
}

TEST(TypedSink, passes_typed_events_on_without_publishing_them) {
  int stopped = 0;
  const EventSink carried = TypedEvents{[&](const TypedEvent& event) {
    if (std::holds_alternative<event::SchedulerStopped>(event.what)) ++stopped;
  }};
  typed_sink(carried)({.at = Instant{}, .what = event::SchedulerStopped{}});
  EXPECT_EQ(stopped, 1);
}

TEST(TypedSink, is_empty_if_there_is_no_sink) {
  EXPECT_FALSE(typed_sink({}));
}

}  // namespace
}  // namespace dutiful
