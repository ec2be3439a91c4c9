// One task among many, on the real clock: how late it starts, compared with a bare timer, and with
// a timer followed by one fdatasync(), without which no start is durable.
//
// The task fails and is retried after 20 ms, so that every start has an exact instant.

#include <latch>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bare_sqlite.h"
#include "figures.h"
#include "subjects.h"
#include "support/temporary_directory.h"
#include "time/iso8601.h"

namespace dutiful::bench {
namespace {

using std::chrono::system_clock;

constexpr int wake_ups = 400;
constexpr std::chrono::milliseconds apart{20};

double ms_after(Instant instant) {
  return std::chrono::duration<double, std::milli>{system_clock::now() - instant}.count();
}

struct BareTimer {
  std::vector<double> late{};
  std::vector<double> durable{};
};

BareTimer bare_timer(const std::string& path) {
  BareTimer bare;
  const SyncedFile file{path};
  const int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC);
  for (int i = 0; i < wake_ups; ++i) {
    const Instant at = std::chrono::floor<Duration>(system_clock::now()) + apart;
    const auto whole = std::chrono::floor<std::chrono::seconds>(at);
    const itimerspec spec{.it_interval = {},
                          .it_value = {.tv_sec = whole.time_since_epoch().count(),
                                       .tv_nsec = std::chrono::nanoseconds{at - whole}.count()}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, nullptr);
    pollfd waiting{.fd = timer, .events = POLLIN, .revents = 0};
    (void)poll(&waiting, 1, -1);
    bare.late.push_back(ms_after(at));
    file.write();
    bare.durable.push_back(ms_after(at));
  }
  close(timer);
  return bare;
}

enum class Place { memory, sqlite };

void lateness(std::size_t tasks, Place place) {
  const TemporaryDirectory directory;
  std::vector<double> late;
  std::latch done{1};
  Instant retry_at{};
  Scheduler scheduler{{.state = place == Place::sqlite ? directory.file("state.db") : "",
                       .zone = Zone::utc(),
                       .events = [&](const Event& event) {
                         if (event.name != "TaskRunFailed") return;
                         for (const EventField& field : event.fields) {
                           if (field.name != "nextRetryAt") continue;
                           retry_at = parse_timestamp(std::get<std::string>(field.value))
                                          ->instant(std::chrono::seconds{0});
                         }
                       }}};
  auto list = registrations(tasks, rarely);
  list[tasks / 2].cron = "* * * * *";
  list[tasks / 2].retry_delay = apart;
  list[tasks / 2].callback = [&](const RunInfo& run) {
    if (run.reason == Reason::retry && late.size() < wake_ups) {
      late.push_back(ms_after(retry_at));
      if (late.size() == wake_ups) done.count_down();
    }
    throw std::runtime_error("once more");
  };
  scheduler.initialize(std::move(list));
  BareTimer bare = bare_timer(directory.file("bare"));  // at the same time, under the same load
  done.wait();
  scheduler.stop();
  nlohmann::json figure;
  for (const int percent : {50, 99}) {
    const std::string p = "p" + std::to_string(percent) + "_ms";
    figure[p] = percentile(late, percent);
    figure["bare_timerfd_" + p] = percentile(bare.late, percent);
    figure["bare_timerfd_and_fdatasync_" + p] = percentile(bare.durable, percent);
  }
  print_figure(place == Place::sqlite ? "lateness.sqlite" : "lateness.memory", tasks, figure);
}

}  // namespace

void lateness_memory(std::size_t tasks) {
  lateness(tasks, Place::memory);
}

void lateness_sqlite(std::size_t tasks) {
  lateness(tasks, Place::sqlite);
}

}  // namespace dutiful::bench
