// Whatever path and query reach the API, it answers with a document of the kind that it says, and
// asks its sources only for what is allowed.

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "daemon/api.h"
#include "http/limits.h"
#include "http/target.h"
#include "time/clock_range.h"

namespace dutiful {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "violated: " << what << '\n';
  std::abort();
}

constexpr Instant now = Instant{std::chrono::sys_days{std::chrono::year{2025} / 3 / 3}};

SchedulerStatus status() {
  static constexpr TaskStatus a{.name = "a", .cron = "* * * * *"};
  static constexpr TaskStatus b{.name = "b/ü", .cron = "0 0 30 2 *"};
  SchedulerStatus status;
  status.at = now;
  status.lifecycle = SchedulerStatus::Lifecycle::running;
  status.tasks = {a, b};
  return status;
}

void require_past(const std::optional<Instant>& since) {
  // What SQLite compares with must fit into its integers, and must be printable.
  require(!since || (*since >= clock_begin && *since <= clock_end), "a time is a time");
}

RunPage runs(const RunQuery& query) {
  require(query.limit >= 1 && query.limit <= 1000, "a page of runs is bounded");
  require(!query.before || *query.before >= 1, "a cursor is an id");
  require(!query.with_output || query.limit == 1, "pages have no output");
  require_past(query.since);
  require_past(query.until);
  HistoryEntry entry{.id = 7};
  entry.result = {.run = {.task = query.task.value_or("a"), .started = now}, .output = "\xff"};
  return {.runs = {entry}, .next = query.before};
}

std::vector<TaskAccount> accounts(const AccountQuery& query) {
  require(query.limit && *query.limit <= 10'001, "a page of accounts is bounded");
  require(!query.with_stretches || query.task, "days are those of one task");
  require_past(query.since);
  if (query.task && *query.task != "a") return {};
  return {{.name = "a", .cron = "* * * * *", .from = query.since.value_or(now), .until = now},
          {.name = "b\xff", .cron = "x", .from = now, .until = now}};
}

std::vector<std::vector<RunSpan>> spans(const SpanQuery& query) {
  require(query.tasks.size() <= 16 && query.limit <= 5000, "few runs are read at once");
  require(query.from < query.until && query.until - query.from <= std::chrono::days{40},
          "a window is bounded");
  require_past(query.from);
  require_past(query.until);
  return std::vector<std::vector<RunSpan>>(query.tasks.size(), {{.from = now, .until = now}});
}

const Api& api() {
  static const Api api{
      {.now = [] { return now; },
       .status = &status,
       .recent = [] { return [](std::string_view) { return RecentRuns{}; }; },
       .daemon = [] { return DaemonInfo{.at = now}; },
       .definition = [](const std::string& name) -> std::shared_ptr<const TaskDefinition> {
         if (name != "a") return nullptr;
         return std::make_shared<const TaskDefinition>();
       },
       .loop = [] { return LoopProbe::Answer::turns; },
       .runs = &runs,
       .run = [](std::int64_t id) -> std::optional<HistoryEntry> {
         require(id >= 0, "an id is not negative");
         if (id % 2 == 0) return std::nullopt;
         return HistoryEntry{.id = id};
       },
       .accounts = &accounts,
       .timeline = {.open_history = [] { return &spans; },
                    .uptimes = [](Instant) { return std::vector<Uptime>{}; }},
       .metrics = [](const SchedulerStatus&) { return std::string{"x 1\n"}; },
       .calendar = Calendar{Zone::utc()},
       .file = "tasks.toml",
       .overdue_max = std::chrono::minutes{5}}};
  return api;
}

std::string body_of(const http::Response& response) {
  std::string text;
  if (const auto* whole = std::get_if<std::string>(&response.body)) text = *whole;
  if (const auto* source = std::get_if<std::shared_ptr<http::BodySource>>(&response.body)) {
    for (std::string piece = (*source)->next(); !piece.empty(); piece = (*source)->next()) {
      text += piece;
    }
  }
  return text;
}

void check(std::string_view text) {
  http::Target target = http::parse_target(text, http::Limits{}.parameters_max);
  if (!target.error.empty()) return;  // does not reach the API
  http::Request request;
  request.path = std::move(target.path);
  request.segments = std::move(target.segments);
  request.query = std::move(target.query);

  const http::Response response = api().answer(request);
  if (std::holds_alternative<http::EventStream>(response.body)) return;
  const std::string body = body_of(response);
  require(!body.empty(), "an answer has a body");
  if (response.content_type == "application/json") {
    const auto json = nlohmann::json::parse(body, nullptr, false);
    require(!json.is_discarded(), "JSON is JSON");
    require(response.status == 200 || json.contains("error"), "an error says what is wrong");
  } else {
    require(response.content_type.starts_with("text/plain"), "everything else is text");
  }
  require(response.status == 200 || response.status == 400 || response.status == 404,
          "a request is right, wrong or about nothing");
}

}  // namespace
}  // namespace dutiful

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  dutiful::check(text);
  dutiful::check("/api/v1/" + text);
  dutiful::check("/api/v1/runs?since=" + text);
  return 0;
}
