// The pages that a browser shows.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <dutiful/status.h>
#include <dutiful/zone.h>

#include "daemon/api.h"
#include "http/request.h"
#include "http/response.h"

namespace dutiful {

// The HTML of the overview, of a task, of the timeline and of the runs, and the files that they
// load. A script fills them with answers of the API; without it, the overview is a plain table.
// Safe to use from several threads if the sources are.
class Pages {
 public:
  struct Sources {
    std::function<SchedulerStatus()> status;
    std::function<RecentLookup()> recent;
    // Whether the history has runs of a task, which may have been removed from the list.
    std::function<bool(const std::string& task)> has_runs;
    Zone zone;
  };
  explicit Pages(Sources sources) : sources_(std::move(sources)) {}

  // Nothing if there is no page at this address.
  [[nodiscard]] std::optional<http::Response> answer(const http::Request& request) const;

 private:
  [[nodiscard]] http::Response overview(const http::Request& request) const;
  [[nodiscard]] http::Response task(const std::string& name) const;

  Sources sources_;
};

}  // namespace dutiful
