#include <list>

#include "daemon/history_file.h"
#include "daemon/history_path.h"
#include "page/world/past.h"
#include "page/world/worlds.h"

namespace dutiful::page_world {
namespace {

using namespace std::chrono_literals;

constexpr int count = 10'000;
constexpr int earlier_runs = 29;

const char* const jobs[] = {"import orders",
                            "export invoices",
                            "sync stock",
                            "send reminders",
                            "prune cache",
                            "back up",
                            "update prices",
                            "check links",
                            "build report",
                            "rotate keys"};

// The minutes from 50 on are free, so that nothing is due while a test looks.
int minute_of(int number) {
  return number % 50;
}

Outcome outcome(const RunInfo& run) {
  // Whole seconds, so that many runs end at the same instant.
  const Duration duration = std::chrono::ceil<std::chrono::seconds>(between(run, 100ms, 9s));
  if (scramble(run) % 200 == 0) {
    return {.duration = duration, .exit_status = 1, .output = "connection refused\n"};
  }
  return {.duration = duration, .output = "done\n"};
}

std::string name_of(int number) {
  std::string digits = std::to_string(number / 10);
  digits.insert(0, 4 - digits.size(), '0');
  return "customer " + digits + ": " + jobs[number % 10];
}

// The runs before those that a scheduler has made: one an hour.
void write_earlier_runs(const Past& past, Instant first_hour) {
  HistoryFile history{history_of(past.state())};
  for (int hour = 0; hour < earlier_runs; ++hour) {
    std::list<HistoryEntry> entries;
    for (int i = 0; i < count; ++i) {
      const Instant pulse = first_hour + std::chrono::hours{hour} + minute_of(i) * 1min;
      HistoryEntry entry{.result = {.run = {.task = past.tasks()[static_cast<std::size_t>(i)].name,
                                            .reason = Reason::cron,
                                            .pulse = pulse,
                                            .attempt = 1,
                                            .fence = 1,
                                            .started = pulse + 4ms}}};
      const Outcome how = outcome(entry.result.run);
      entry.scheduled = pulse;
      entry.result.process = 2000 + i;
      entry.result.duration = how.duration;
      entry.result.exit_status = how.exit_status;
      entry.result.output = how.output;
      entry.result.output_total = how.output.size();
      entries.push_back(std::move(entry));
    }
    const Instant begin = first_hour - 1s;
    const Uptime uptime{.started = begin, .seen = first_hour + std::chrono::hours{hour + 1} - 2s};
    history.write(entries, {&uptime, 1}, Retention{});
  }
}

}  // namespace

Instant make_ten_thousand(const std::string& directory) {
  std::vector<PastTask> tasks;
  for (int i = 0; i < count; ++i) {
    tasks.push_back({.name = name_of(i),
                     .cron = std::to_string(minute_of(i)) + " * * * *",
                     .settings = "run = [\"/bin/true\"]",
                     .retry_delay = 2h,
                     .outcome = outcome});
  }
  const Past past{directory, Zone::utc(), std::move(tasks)};
  const Instant hour = at("2026-06-17T09:00:00Z");
  write_earlier_runs(past, hour - std::chrono::hours{earlier_runs});
  past.live(hour - 1s, hour + 51min, EndOfLife::stop);
  return hour + 51min + 10s;
}

}  // namespace dutiful::page_world
