#include "daemon/overview_html.h"

#include <algorithm>

#include "daemon/task_group.h"
#include "daemon/task_json.h"
#include "page/page.h"
#include "time/duration.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

using page::escape_html;

std::string count_text(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

std::string summary_html(const SchedulerStatus& status) {
  std::string text = count_text(status.tasks.size(), "task", "tasks");
  for (const TaskGroup group : {TaskGroup::failing, TaskGroup::overdue, TaskGroup::running}) {
    const auto count = std::ranges::count(status.tasks, group, group_of);
    if (count > 0) text += " · " + std::to_string(count) + ' ' + name_of(group);
  }
  return "<p class=\"summary\">" + text + "</p>";
}

// The local time with its offset: 2026-10-25 01:30:00 +02:00.
std::string time_text(Instant instant, const Zone& zone) {
  constexpr std::size_t date = 10;
  constexpr std::size_t time = 19;
  const std::string iso = format_second(instant, zone.offset_at(instant));
  return iso.substr(0, date) + ' ' + iso.substr(date + 1, time - date - 1) + ' ' + iso.substr(time);
}

// Milliseconds matter only if there are no minutes: 250ms, 1s500ms, 42m38s.
std::string length_text(Duration duration) {
  using namespace std::chrono;
  return format_duration(duration < minutes{1} ? duration : floor<seconds>(duration));
}

const char* word_of(TaskGroup group) {
  switch (group) {
    case TaskGroup::failing:
      return "Failing";
    case TaskGroup::overdue:
      return "Overdue";
    case TaskGroup::running:
      return "Running";
    case TaskGroup::good:
      return "Waiting";
  }
  return "";
}

// The group first, which is why the task stands where it stands.
std::string state_text(const TaskStatus& task, const Zone& zone) {
  const TaskGroup group = group_of(task);
  std::string text = word_of(group);
  if (group == TaskGroup::overdue) text += " since " + time_text(*task.overdue_since, zone);
  if (task.state == TaskStatus::State::running && group != TaskGroup::running) text += ", running";
  if (task.retry_at) text += ", retry at " + time_text(*task.retry_at, zone);
  return text;
}

std::string last_text(const TaskStatus& task, const RecentRuns& recent, const Zone& zone) {
  std::string text;
  if (const auto result = recent.last_result()) text = name_of(*result);
  if (recent.duration) text += " in " + length_text(*recent.duration);
  // A task that runs has begun another attempt, of which there is no result yet.
  const bool is_over = task.state != TaskStatus::State::running;
  if (task.last_attempt && is_over) {
    text += (text.empty() ? "" : ", ") + time_text(*task.last_attempt, zone);
  }
  return text.empty() ? "never" : text;
}

// No path leads to the names "." and "..": clients resolve them.
std::string link_html(std::string_view name) {
  std::string shown = "<bdi>" + escape_html(name) + "</bdi>";
  if (name == "." || name == "..") return shown;
  return "<a href=\"/tasks/" + page::encode_segment(name) + "\">" + shown + "</a>";
}

std::string row_html(const TaskStatus& task, const Overview& overview, EnglishTexts& english) {
  const RecentRuns recent = overview.recent(task.name);
  const auto next = task.next_due();
  std::string last = escape_html(last_text(task, recent, overview.zone));
  if (!recent.error.empty()) last += "<br>" + escape_html(recent.error);
  return "<tr data-state=\"" + std::string{name_of(group_of(task))} + "\"><td>" +
         link_html(task.name) + "</td><td>" + escape_html(english.of(task)) + "</td><td>" +
         escape_html(state_text(task, overview.zone)) + "</td><td>" + last + "</td><td>" +
         (next ? time_text(*next, overview.zone) : "never") + "</td></tr>\n";
}

std::string link_to_page(const char* rel, const char* text, std::size_t page) {
  return std::string{"<a rel=\""} + rel + "\" href=\"/?page=" + std::to_string(page) + "\">" +
         text + "</a> ";
}

std::string pages_html(std::size_t page, std::size_t pages) {
  if (pages == 1) return "";
  std::string text = R"(<nav class="pages" aria-label="Pages">)";
  if (page > 1) text += link_to_page("prev", "Previous", page - 1);
  text += "<span>Page " + std::to_string(page) + " of " + std::to_string(pages) + "</span> ";
  if (page < pages) text += link_to_page("next", "Next", page + 1);
  return text + "</nav>\n";
}

}  // namespace

std::string overview_html(const Overview& overview) {
  const auto tasks = sorted_by_group(overview.status.tasks, "");
  const std::size_t pages =
      std::max<std::size_t>(1, (tasks.size() + overview.page_size - 1) / overview.page_size);
  const std::size_t page = std::clamp<std::size_t>(overview.page, 1, pages);
  const std::size_t begin = (page - 1) * overview.page_size;
  const std::size_t end = std::min(tasks.size(), begin + overview.page_size);
  std::string text =
      "<div class=\"head\"><h1>Tasks</h1>" + summary_html(overview.status) + "</div>\n";
  text +=
      "<div class=\"scroller\"><table class=\"tasks\"><thead><tr><th>Task</th><th>Schedule</th>"
      "<th>State</th><th>Last run</th><th>Next run</th></tr></thead>\n<tbody>\n";
  EnglishTexts english;
  for (std::size_t i = begin; i < end; ++i) text += row_html(tasks[i], overview, english);
  return text + "</tbody></table></div>\n" + pages_html(page, pages);
}

}  // namespace dutiful
