// Whatever tasks are called, the page of metrics is one that Prometheus can read.

#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "metrics/label.h"
#include "metrics/metrics.h"
#include "text/utf8.h"

namespace dutiful {
namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "violated: " << what << '\n';
  std::abort();
}

void check_label(std::string_view name) {
  const std::string text = label("x", name);
  require(text.starts_with("x=\"") && text.ends_with('"') && text.size() >= 4, "x=\"…\"");
  const std::string_view value = std::string_view{text}.substr(3, text.size() - 4);
  require(find_not_utf8(value) == std::string_view::npos, "a value is UTF-8");
  for (std::size_t i = 0; i < value.size(); ++i) {
    require(static_cast<unsigned char>(value[i]) >= 0x20, "a value has no control characters");
    require(value[i] != '"', "a quote is escaped");
    if (value[i] != '\\') continue;
    require(++i < value.size(), "an escape is complete");
    require(value[i] == 'n' || value[i] == '\\' || value[i] == '"', "an escape is known");
  }
}

// The names are separated by newlines; a name may then contain everything else. None is empty,
// which initialize() rejects.
void check_page(const std::string& names) {
  Metrics metrics{4};
  MetricsInput input;
  std::istringstream lines{names};
  std::set<std::string> listed;
  for (std::string name; std::getline(lines, name);) {
    if (!name.empty()) listed.insert(name);
  }
  for (const std::string& name : listed) {
    metrics.add({.at = {}, .what = event::TaskAdded{.task = name, .cron = "", .retry_delay = {}}});
    TaskStatus status;
    status.name = name;
    input.status.tasks.push_back(status);
  }

  std::set<std::string> series;
  std::istringstream page{metrics.render(input)};
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("# ")) continue;
    const std::size_t space = line.rfind(' ');
    require(space != std::string::npos, "a sample has a value");
    require(line.find_first_not_of("0123456789.+Inf", space + 1) == std::string::npos,
            "a value is a number");
    require(series.insert(line.substr(0, space)).second, "a series occurs once");
  }
}

}  // namespace
}  // namespace dutiful

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  dutiful::check_label(text);
  dutiful::check_page(text);
  return 0;
}
