#include "daemon/timeline_json.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "daemon/api_query.h"
#include "daemon/task_group.h"
#include "daemon/task_json.h"
#include "daemon/timeline.h"
#include "text/json_object.h"
#include "text/quote.h"
#include "time/clock_range.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

constexpr Duration span_default = std::chrono::hours{24};  // before and after now
constexpr Duration span_max = std::chrono::days{40};
constexpr std::int64_t step_max = 86'400'000;
constexpr std::int64_t tasks_max = 1000;
constexpr std::int64_t tasks_default = 500;
// Of each task. A chart has not that many pixels.
constexpr std::size_t runs_max = 5000;
constexpr std::size_t bands_max = 5000;
constexpr int steps_max = 5000;

TimelineWindow window_of(const ApiQuery& query, Instant now) {
  TimelineWindow window{
      .from = query.instant("from").value_or(into_clock_range(now - span_default)),
      .until = query.instant("until").value_or(into_clock_range(now + span_default)),
      .step = Duration{query.number("step", 0, step_max).value_or(0)}};
  if (window.until <= window.from) {
    throw BadRequest(R"(the parameter "until" is not later than "from")");
  }
  if (window.until - window.from > span_max) {
    throw BadRequest(R"(the parameters "from" and "until" are more than 40 days apart)");
  }
  // Between steps that are much shorter than a pixel, pulses would be looked up one by one.
  if (window.step > Duration::zero()) {
    window.step = std::max(window.step, (window.until - window.from) / steps_max);
  }
  return window;
}

void append_number(std::string& text, std::int64_t number) {
  text += std::to_string(number);
}
void append_instant(std::string& text, Instant instant) {
  append_number(text, instant.time_since_epoch().count());
}

// Appends an array.
template <typename Items, typename Append>
void append_list(std::string& text, const Items& items, Append append) {
  text += '[';
  bool is_first = true;
  for (const auto& item : items) {
    if (!std::exchange(is_first, false)) text += ',';
    append(item);
  }
  text += ']';
}

struct TimelineHead {
  Instant at{};
  TimelineWindow window{};
  std::vector<Zone::Change> changes{};
  std::vector<TimeStretch> down{};
  std::optional<Instant> known_since{};
  std::size_t total = 0;  // tasks that match
};

void append_head(std::string& text, const TimelineHead& head) {
  JsonObject object{text};
  object.add("at", format_utc(head.at));
  object.add("from", format_utc(head.window.from));
  object.add("until", format_utc(head.window.until));
  object.begin("changes");
  append_list(text, head.changes, [&](const Zone::Change& change) {
    JsonObject item{text};
    item.add("at", format_utc(change.at));
    item.add("before", change.before.count());
    item.add("after", change.after.count());
  });
  object.begin("down");
  append_list(text, head.down, [&](const TimeStretch& stretch) {
    JsonObject item{text};
    item.add("from", format_utc(stretch.from));
    item.add("until", format_utc(stretch.until));
  });
  object.add("knownSince",
             head.known_since ? std::optional{format_utc(*head.known_since)} : std::nullopt);
  object.add("total", head.total);
}

// The tasks are read and written some at a time: a timeline without a step may have millions of
// runs.
class TimelineBody : public http::BodySource {
 public:
  // Reads the first tasks, so that a history that cannot be read is an error before anything is
  // sent.
  TimelineBody(TimelineHead head,
               std::vector<TaskStatus> tasks,
               std::shared_ptr<const void> texts,
               Calendar calendar,
               const std::function<TimelineSources::Spans()>& open_history)
      : head_(std::move(head)),
        tasks_(std::move(tasks)),
        texts_(std::move(texts)),
        calendar_(std::move(calendar)) {
    if (tasks_.empty()) return;
    read_spans_ = open_history();
    read_some();
  }

  std::string next() override {
    std::string text;
    if (is_finished_) return text;
    if (!std::exchange(is_begun_, true)) {
      append_head(text, head_);
      text.back() = ',';  // the object continues
      text += R"("tasks":[)";
    }
    for (; next_ < tasks_.size() && text.size() < piece_bytes; ++next_) {
      if (next_ == spans_begin_ + spans_.size()) read_some();
      if (next_ > 0) text += ',';
      append_lane(text, tasks_[next_], std::move(spans_[next_ - spans_begin_]));
    }
    if (next_ == tasks_.size()) {
      text += "]}";
      is_finished_ = true;
    }
    return text;
  }
  [[nodiscard]] std::size_t held() const override {
    return tasks_.size() * sizeof(TaskStatus) +
           std::min(tasks_.size(), read_at_once) * runs_max * sizeof(RunSpan);
  }

 private:
  static constexpr std::size_t read_at_once = 16;
  static constexpr std::size_t piece_bytes = 64UL * 1024;

  void read_some() {
    SpanQuery query{
        .tasks = {}, .from = head_.window.from, .until = head_.window.until, .limit = runs_max};
    spans_begin_ = next_;
    const std::size_t end = std::min(next_ + read_at_once, tasks_.size());
    for (std::size_t i = next_; i < end; ++i) query.tasks.emplace_back(tasks_[i].name);
    spans_ = read_spans_(query);
  }

  void append_lane(std::string& text, const TaskStatus& task, std::vector<RunSpan> runs) {
    add_running(runs, task, head_.window, head_.at);
    merge(runs, head_.window.step);
    JsonObject object{text};
    object.add("taskName", task.name);
    object.add("english", english_.of(task));
    object.add("group", name_of(group_of(task)));
    object.begin("runs");
    append_list(text, runs, [&](const RunSpan& run) {
      text += '[';
      append_instant(text, run.from);
      text += ',';
      append_instant(text, run.until);
      text += ",\"";
      text += static_cast<char>(run.result);
      text += "\",";
      append_number(text, run.count);
      text += ']';
    });
    object.begin("pulses");
    const auto bands =
        pulse_bands(calendar_, CronExpression::parse(task.cron), head_.window, head_.at, bands_max);
    append_list(text, bands, [&](const PulseBand& band) {
      text += '[';
      append_instant(text, band.from);
      text += ',';
      append_instant(text, band.until);
      text += ',';
      append_number(text, band.count);
      text += ']';
    });
  }

  const TimelineHead head_;
  const std::vector<TaskStatus> tasks_;
  const std::shared_ptr<const void> texts_;  // what the tasks point into
  const Calendar calendar_;
  EnglishTexts english_;
  TimelineSources::Spans read_spans_;
  std::vector<std::vector<RunSpan>> spans_;  // of the tasks from this one on
  std::size_t spans_begin_ = 0;
  std::size_t next_ = 0;
  bool is_begun_ = false;
  bool is_finished_ = false;
};

}  // namespace

std::vector<Uptime> with_present(std::vector<Uptime> uptimes,
                                 std::optional<Instant> up_since,
                                 Instant now) {
  if (!up_since) return uptimes;
  // If the host was asleep, the daemon has several, and the first of them may have been deleted by
  // now. The last one lasts.
  const bool is_recorded = std::ranges::any_of(
      uptimes, [&](const Uptime& uptime) { return uptime.started >= *up_since; });
  if (!is_recorded) uptimes.push_back({.started = *up_since, .seen = *up_since});
  uptimes.back().seen = std::max(uptimes.back().seen, now);
  return uptimes;
}

http::Response timeline_response(const http::Request& request,
                                 SchedulerStatus status,
                                 const Calendar& calendar,
                                 const TimelineSources& sources) {
  const ApiQuery query{request, {"from", "until", "step", "limit", "search", "task"}};
  const Instant now = status.at;
  TimelineHead head{.at = now, .window = window_of(query, now)};
  const auto limit =
      static_cast<std::size_t>(query.number("limit", 1, tasks_max).value_or(tasks_default));
  if (const auto name = query.text("task")) {
    const TaskStatus* const task = status.find(*name);
    if (task == nullptr) return http::error_response(404, "there is no task " + quote(*name));
    status.tasks = std::vector{*task};
  }
  std::vector<TaskStatus> tasks = sorted_by_group(status.tasks, query.text("search").value_or(""));
  head.total = tasks.size();
  if (tasks.size() > limit) tasks.resize(limit);
  // The window includes its beginning and excludes its end.
  head.changes =
      calendar.zone().changes(head.window.from - Duration{1}, head.window.until - Duration{1});
  const std::vector<Uptime> uptimes = sources.uptimes(now);
  if (!uptimes.empty()) {
    head.known_since = std::ranges::min(uptimes, {}, &Uptime::started).started;
  }
  head.down = downtimes(uptimes, head.window, now);
  return {.body = std::make_shared<TimelineBody>(std::move(head),
                                                 std::move(tasks),
                                                 std::move(status.texts),
                                                 calendar,
                                                 sources.open_history)};
}

}  // namespace dutiful
