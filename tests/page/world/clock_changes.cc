#include "page/world/past.h"
#include "page/world/worlds.h"

namespace dutiful::page_world {
namespace {

using namespace std::chrono_literals;

std::vector<PastTask> tasks() {
  const auto takes = [](Duration least, Duration greatest) {
    return [=](const RunInfo& run) {
      return Outcome{.duration = between(run, least, greatest), .output = "done\n"};
    };
  };
  return {
      {"at half past one", "30 1 * * *", "run = \"true\"", 5min, takes(4min, 6min)},
      {"at half past two", "30 2 * * *", "run = \"true\"", 5min, takes(4min, 6min)},
      {"every hour", "0 * * * *", "run = \"true\"", 5min, takes(1min, 2min)},
      {"every quarter of an hour", "0,15,30,45 * * * *", "run = \"true\"", 5min, takes(5s, 40s)},
      {"in the afternoon", "0 15 * * *", "run = \"true\"", 5min, takes(30min, 50min)},
  };
}

Instant live(const std::string& directory, Instant from, Instant until) {
  const Past past{directory, Zone::load("America/New_York"), tasks()};
  past.live(from, until, EndOfLife::stop);
  return until + 10s;
}

}  // namespace

Instant make_spring(const std::string& directory) {
  return live(directory, at("2026-03-06T12:10:00-05:00"), at("2026-03-08T12:10:00-04:00"));
}

Instant make_autumn(const std::string& directory) {
  return live(directory, at("2026-10-30T12:10:00-04:00"), at("2026-11-01T12:10:00-05:00"));
}

}  // namespace dutiful::page_world
