// After a downtime: from initialize() until the last of many tasks that are due every minute has
// started, with an event sink. The length of the downtime must not matter.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include <dutiful/testing.h>

#include "figures.h"
#include "subjects.h"
#include "support/temporary_directory.h"

namespace dutiful::bench {
namespace {

using std::chrono::steady_clock;

constexpr const char* every_minute = "* * * * *";
constexpr int rounds = 10;
// All of them at once, so that the limit does not affect the result.
constexpr std::size_t concurrent = 8192;

// The total of missed pulses in the events.
class Missed {
 public:
  [[nodiscard]] EventSink sink() {
    return [this](const Event& event) {
      for (const EventField& field : event.fields) {
        if (field.name == "missedCount") sum_ += std::get<std::int64_t>(field.value);
      }
    };
  }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  std::atomic<std::int64_t> sum_ = 0;
};

// From initialize() to the last start, in seconds.
double start_all(const std::string& state, std::size_t tasks, Instant now, EventSink events) {
  std::atomic<std::size_t> started = 0;
  std::atomic<steady_clock::rep> last = 0;
  auto list = registrations(tasks, every_minute, [&] {
    if (++started == tasks) last = steady_clock::now().time_since_epoch().count();
  });
  Scheduler scheduler{{.state = state,
                       .max_concurrent = concurrent,
                       .zone = Zone::load("America/New_York"),
                       .clock = std::make_shared<ManualClock>(now),
                       .events = std::move(events)}};
  const auto start = steady_clock::now();
  scheduler.initialize(std::move(list));
  while (last == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  scheduler.stop();
  return std::chrono::duration<double>{steady_clock::duration{last} - start.time_since_epoch()}
      .count();
}

double restart(std::size_t tasks, Duration downtime, EventSink events) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  (void)start_all(state, tasks, begin, {});
  return start_all(state, tasks, begin + downtime, std::move(events));
}

}  // namespace

void downtime(std::size_t tasks) {
  struct Downtime {
    const char* name;
    std::chrono::hours length;
    std::vector<double> seconds{};
    std::vector<double> unheard{};  // without an event sink
  };
  std::array<Downtime, 3> downtimes{{{"hour", std::chrono::hours{1}},
                                     {"year", std::chrono::days{365}},
                                     {"century", std::chrono::days{36525}}}};
  // In turns, and the best one counts, because the machine is shared.
  for (int round = 0; round < rounds; ++round) {
    for (Downtime& downtime : downtimes) {
      Missed missed;
      downtime.seconds.push_back(restart(tasks, downtime.length, missed.sink()));
      downtime.unheard.push_back(restart(tasks, downtime.length, {}));
      const auto pulses = std::chrono::minutes{downtime.length}.count();
      if (missed.sum() != static_cast<std::int64_t>(tasks) * (pulses - 1)) {
        throw std::runtime_error("the events do not account for every pulse");
      }
    }
  }
  const double hour = std::ranges::min(downtimes.front().seconds);
  for (Downtime& downtime : downtimes) {
    const double seconds = std::ranges::min(downtime.seconds);
    print_figure("downtime",
                 tasks,
                 {{"downtime", downtime.name},
                  {"last_start_seconds", seconds},
                  {"without_events_seconds", std::ranges::min(downtime.unheard)},
                  {"ratio_to_hour", seconds / hour}});
  }
}

}  // namespace dutiful::bench
