#include "daemon/api.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "daemon/account_json.h"
#include "daemon/api_query.h"
#include "daemon/health.h"
#include "daemon/openapi.h"
#include "daemon/run_json.h"
#include "daemon/task_json.h"
#include "text/json_object.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using http::Request;
using http::Response;

// The content type of the Prometheus text format.
constexpr const char* metrics_type = "text/plain; version=0.0.4; charset=utf-8";

constexpr std::int64_t page_max = 1000;
constexpr std::int64_t page_default = 100;
constexpr std::int64_t accounts_max = 10'000;
constexpr std::int64_t accounts_default = 1000;

// Bytes that are not UTF-8 are replaced: JSON cannot contain them. Control characters are escaped
// (RULES V).
std::string to_text(const nlohmann::ordered_json& document) {
  return escape_json(
      document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Response not_found(const std::string& what) {
  return http::error_response(404, what);
}

Response probe(const Health& health) {
  return http::text_response(health.good ? 200 : 503, health.reason + "\n");
}

// What comes before the tasks of a scheduler.
void add_scheduler(JsonObject& object, const SchedulerStatus& status) {
  const auto time = [](const std::optional<Instant>& at) {
    return at ? std::optional{format_utc(*at)} : std::nullopt;
  };
  object.add("at", format_utc(status.at));
  object.add("lifecycle", name_of(status.lifecycle));
  object.add("running", status.running);
  object.add("maxConcurrent", status.max_concurrent);
  object.add("storeFailingSince", time(status.store_failing_since));
  object.add("storeRetryAt", time(status.store_retry_at));
}

// All tasks. A million of them need not be in memory as text.
class TasksBody : public http::BodySource {
 public:
  // How many tasks are in a piece. If there are no more, the first piece is the whole.
  static constexpr std::size_t piece = 256;

  TasksBody(SchedulerStatus status, RecentLookup recent)
      : status_(std::move(status)), recent_(std::move(recent)) {}

  std::string next() override {
    std::string text;
    if (is_finished_) return text;
    if (next_ == 0) {
      {
        JsonObject object{text};
        add_scheduler(object, status_);
      }
      text.back() = ',';  // the object continues
      text += R"("tasks":[)";
    }
    const std::size_t end = std::min(next_ + piece, status_.tasks.size());
    for (; next_ < end; ++next_) {
      if (next_ > 0) text += ',';
      append_json(text, status_.tasks[next_], recent_(status_.tasks[next_].name), english_);
    }
    if (next_ == status_.tasks.size()) {
      text += "]}";
      is_finished_ = true;
    }
    return text;
  }
  [[nodiscard]] std::size_t held() const override {
    return status_.tasks.size() * sizeof(TaskStatus);
  }

 private:
  SchedulerStatus status_;
  RecentLookup recent_;
  EnglishTexts english_;
  std::size_t next_ = 0;
  bool is_finished_ = false;
};

// A change is shown when it is durable, with the time at which it was decided. A disk that takes
// longer is rare, and a client that reads all tasks now and then misses nothing.
constexpr std::chrono::seconds show_delay{5};

// Whether a client that knows the task as it was then should read it again.
bool has_changed(const TaskStatus& task, Instant since) {
  return task.overdue_since || (task.last_attempt && *task.last_attempt >= since) ||
         (task.last_success && *task.last_success >= since) ||
         (task.last_failure && *task.last_failure >= since);
}

constexpr std::size_t next_pulses = 10;

void append_pulses(std::string& text,
                   const Calendar& calendar,
                   std::string_view cron,
                   Instant after) {
  const CronExpression expression = CronExpression::parse(cron);
  text += '[';
  for (std::size_t i = 0; i < next_pulses; ++i) {
    const auto next = calendar.find_next(expression, after);
    if (!next) break;
    text += i > 0 ? ",\"" : "\"";
    append_utc(text, *next);
    text += '"';
    after = *next;
  }
  text += ']';
}

RunResult result_of(const std::string& name) {
  for (const RunResult result : {RunResult::succeeded, RunResult::failed, RunResult::interrupted}) {
    if (name == name_of(result)) return result;
  }
  throw BadRequest("the parameter \"result\" is " + quote(name) +
                   ", which is not succeeded, failed or interrupted");
}

}  // namespace

Response Api::answer(const Request& request) const {
  try {
    const auto& path = request.segments;
    if (path.size() >= 2 && path[0] == "api" && path[1] == "v1") return answer_api(request);
    if (path.size() != 1) return not_found("there is nothing at this address");
    const ApiQuery none{request, {}};
    if (path[0] == "healthz") return probe(liveness(sources_.loop()));
    if (path[0] == "readyz") {
      return probe(readiness(sources_.status(),
                             sources_.state_file(),
                             sources_.overdue_max,
                             sources_.probes_name_tasks));
    }
    if (path[0] == "metrics") {
      return {.content_type = metrics_type, .body = sources_.metrics(sources_.status())};
    }
    return not_found("there is nothing at this address");
  } catch (const BadRequest& error) {
    return http::error_response(400, error.what());
  } catch (const Error& error) {  // the history or the state cannot be read, or is damaged
    return http::error_response(503, error.what());
  }
}

Response Api::answer_api(const Request& request) const {
  const auto& path = request.segments;
  if (path.size() == 3) {
    if (path[2] == "tasks") return tasks(request);
    if (path[2] == "runs") return runs(request);
    if (path[2] == "account") return account(request);
    if (path[2] == "daemon") {
      const ApiQuery none{request, {}};
      return {.body = json_of(sources_.daemon())};
    }
    if (path[2] == "timeline") {
      return timeline_response(request, sources_.status(), sources_.calendar, sources_.timeline);
    }
    if (path[2] == "events") {
      const ApiQuery query{request, {"last_event_id"}};
      return http::event_response(request);
    }
    if (path[2] == "openapi.json") {
      const ApiQuery none{request, {}};
      return {.body = std::string{openapi_document()}};
    }
  }
  if (path.size() == 4 && path[2] == "tasks") return task(request, path[3]);
  if (path.size() == 4 && path[2] == "runs") return run(request, path[3]);
  return not_found("there is nothing at this address; see /api/v1/openapi.json");
}

Response Api::tasks(const Request& request) const {
  const ApiQuery query{request, {"since"}};
  SchedulerStatus status = sources_.status();
  if (const auto since = query.past("since", status.at)) {
    std::erase_if(status.tasks,
                  [&](const TaskStatus& task) { return !has_changed(task, *since - show_delay); });
  }
  const bool is_short = status.tasks.size() <= TasksBody::piece;
  auto body = std::make_shared<TasksBody>(std::move(status), sources_.recent());
  // A body of known size needs one packet less, for which a client may have to wait.
  if (is_short) return {.body = body->next()};
  return {.body = std::move(body)};
}

Response Api::task(const Request& request, const std::string& name) const {
  const ApiQuery none{request, {}};
  const SchedulerStatus status = sources_.status();
  const TaskStatus* const task = status.find(name);
  if (task == nullptr) return not_found("there is no task " + quote(name));
  std::string text;
  EnglishTexts english;
  append_json(text, *task, sources_.recent()(name), english);
  // The newest run that has ended.
  const RunPage page = sources_.runs({.task = name, .limit = 1});
  text.back() = ',';  // the object continues
  text += R"("nextPulses":)";
  append_pulses(text, sources_.calendar, task->cron, status.at);
  text += R"(,"configuration":)";
  if (const auto definition = sources_.definition(name)) {
    append_json(text, *definition, sources_.file);
  } else {
    text += "null";
  }
  text += R"(,"lastRun":)";
  text += page.runs.empty() ? "null" : to_text(json_of(page.runs.front()));
  text += '}';
  return {.body = std::move(text)};
}

Response Api::runs(const Request& request) const {
  const ApiQuery query{request, {"task", "result", "since", "until", "search", "limit", "cursor"}};
  RunQuery wanted{
      .task = query.text("task"),
      .since = query.past("since", sources_.now()),
      .until = query.past("until", sources_.now()),
      .search = query.text("search").value_or(""),
      .limit = static_cast<std::size_t>(query.number("limit", 1, page_max).value_or(page_default)),
      .before = query.number("cursor", 1, std::numeric_limits<std::int64_t>::max()),
      .with_output = false};
  if (const auto result = query.text("result")) wanted.result = result_of(*result);
  const RunPage page = sources_.runs(wanted);
  // A task that was removed may still have runs.
  if (wanted.task && page.runs.empty() && sources_.status().find(*wanted.task) == nullptr) {
    return not_found("there is no task " + quote(*wanted.task));
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const HistoryEntry& entry : page.runs) {
    auto run = json_of(entry);
    run.erase("output");  // which was not read
    list.push_back(std::move(run));
  }
  nlohmann::ordered_json next;
  if (page.next) next = std::to_string(*page.next);
  return {.body = to_text({{"runs", std::move(list)}, {"next", std::move(next)}})};
}

Response Api::run(const Request& request, const std::string& id) const {
  const ApiQuery none{request, {}};
  const auto number = parse_number(id);
  if (!number) throw BadRequest("the id of a run is a whole number, not " + quote(id));
  const auto entry = sources_.run(*number);
  if (!entry) return not_found("there is no run " + id + "; the history may have dropped it");
  return {.body = to_text(json_of(*entry))};
}

Response Api::account(const Request& request) const {
  const ApiQuery query{request, {"task", "since", "days", "limit", "cursor"}};
  const auto days = query.text("days");
  if (days && days != "true" && days != "false") {
    throw BadRequest("the parameter \"days\" is " + quote(*days) + ", which is not true or false");
  }
  const auto task = query.text("task");
  // The days of all tasks may be more than fits into memory.
  if (days == "true" && !task) {
    throw BadRequest(R"(the parameter "days" needs the parameter "task")");
  }
  const auto limit =
      static_cast<std::size_t>(query.number("limit", 1, accounts_max).value_or(accounts_default));
  auto accounts = sources_.accounts({.task = task,
                                     .since = query.past("since", sources_.now()),
                                     .with_stretches = days == "true",
                                     .after = query.text("cursor").value_or(""),
                                     .limit = limit + 1});
  if (task && accounts.empty()) return not_found("there is no task " + quote(*task));
  std::optional<std::string> next;
  if (accounts.size() > limit) {
    accounts.resize(limit);
    next = accounts.back().name;
  }
  std::string text = R"({"accounts":[)";
  bool is_first = true;
  for (const TaskAccount& account : accounts) {
    if (!std::exchange(is_first, false)) text += ',';
    text += to_text(json_of(account));
  }
  text += R"(],"next":)" + (next ? json_string(*next) : "null") + '}';
  return {.body = std::move(text)};
}

}  // namespace dutiful
