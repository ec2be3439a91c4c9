#include "daemon/pages.h"

#include <utility>
#include <vector>

#include "daemon/api_query.h"
#include "daemon/overview_html.h"
#include "page/page.h"
#include "text/quote.h"

namespace dutiful {
namespace {

constexpr const char* needs_script =
    "<noscript><p>This page needs JavaScript. The <a href=\"/\">overview</a> works without it, and "
    "<code>dutiful history</code> shows the runs in a terminal.</p></noscript>\n";

// What the script asks for first.
constexpr const char* about_daemon = "/api/v1/daemon";
constexpr const char* all_tasks = "/api/v1/tasks";
constexpr const char* newest_runs = "/api/v1/runs?limit=50";
std::vector<std::string> first_of_task(const std::string& name) {
  const std::string value = page::encode_value(name);
  return {about_daemon,
          "/api/v1/tasks/" + page::encode_segment(name),
          "/api/v1/runs?task=" + value + "&limit=100",
          "/api/v1/account?task=" + value + "&days=true"};
}

http::Response page_of_script(const char* title, std::vector<std::string> preloads) {
  return page::response_of(
      {.title = title, .preloads = std::move(preloads), .content = needs_script});
}

}  // namespace

// Parameters that it does not know are for the script.
std::optional<http::Response> Pages::answer(const http::Request& request) const {
  const auto& path = request.segments;
  if (path.empty()) return overview(request);
  if (path.size() == 1 && path[0] == "timeline") {
    return page_of_script("Timeline · dutiful", {about_daemon});
  }
  if (path.size() == 1 && path[0] == "runs") {
    // With a filter, the script asks for other runs.
    return request.query.empty() ? page_of_script("Runs · dutiful", {about_daemon, newest_runs})
                                 : page_of_script("Runs · dutiful", {about_daemon});
  }
  if (path.size() == 2 && path[0] == "tasks") return task(path[1]);
  if (path.size() == 3 && path[0] == "page") return page::asset_response(path[1], path[2]);
  return std::nullopt;
}

http::Response Pages::overview(const http::Request& request) const {
  const std::string* const text = request.parameter("page");
  const auto page = text == nullptr ? std::nullopt : parse_number(*text);
  return page::response_of(
      {.title = "dutiful",
       .preloads = {about_daemon, all_tasks},
       .content = overview_html({.status = sources_.status(),
                                 .recent = sources_.recent(),
                                 .zone = sources_.zone,
                                 .page = static_cast<std::size_t>(page.value_or(1))})});
}

http::Response Pages::task(const std::string& name) const {
  const bool is_known = sources_.status().find(name) != nullptr || sources_.has_runs(name);
  page::Document document{
      .title = name + " · dutiful", .preloads = first_of_task(name), .content = needs_script};
  if (!is_known) {
    document.status = 404;
    document.preloads = {about_daemon};
    document.content = "<h1>No such task</h1>\n<p>There is no task " +
                       page::escape_html(quote(name)) + ". <a href=\"/\">All tasks</a></p>\n";
  }
  return page::response_of(document);
}

}  // namespace dutiful
