#include "runtime/read_status.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

#include "core/obligations.h"
#include "engine/engine.h"
#include "runtime/no_trace.h"
#include "store/memory/memory_store.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// How many pulses are in (after, until].
std::int64_t walk(const Calendar& calendar,
                  const CronExpression& cron,
                  Instant after,
                  Instant until) {
  std::int64_t count = 0;
  for (auto pulse = calendar.find_next(cron, after); pulse && *pulse <= until;
       pulse = calendar.find_next(cron, *pulse)) {
    ++count;
  }
  return count;
}

// Random worlds at a limit, with failures, crashes and clocks that are set, but not so far back
// that this is a correction: what is owed follows from the records alone, and is what the core will
// start.
TEST(ReadStatus, agrees_with_the_core) {
  const Calendar calendar{Zone::load("Europe/Berlin")};
  constexpr std::size_t limit = 2;
  const std::array<const char*, 3> crons{"* * * * *", "0,30 * * * *", "15 2 * * *"};
  std::vector<TaskConfig> list;
  for (std::uint32_t i = 0; i < 6; ++i) {
    list.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                    .cron = crons.at(i % 3),
                    .retry_delay = 10min,
                    .registration = i});
  }
  int owed = 0;
  int limited = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random{seed};
    const auto below = [&](unsigned n) { return random() % n; };
    Instant now = at("2025-03-29T22:00:10Z");  // the night in which the clocks skip 02:15
    NoTrace trace;
    StatusBoard board;
    const auto state = std::make_shared<MemoryState>();
    std::unique_ptr<Engine> engine;
    std::vector<Start> running;
    const auto boot = [&] {
      engine.reset();
      board.clear();
      running.clear();
      engine = std::make_unique<Engine>(
          calendar,
          Policies{.max_concurrent = limit},
          [&] { return std::make_unique<MemoryStore>(state); },
          trace,
          TypedSink{},
          Engine::Prepare{},
          &board);
      engine->initialize(list, now);
    };
    boot();
    for (int i = 0; i < 200; ++i) {
      if (below(50) == 0) {
        now = std::max(now, board.time());
        boot();
      }
      switch (below(10)) {
        case 0:
          now = std::max(now - std::chrono::minutes{below(300)}, board.time() - clock_ahead_max);
          break;
        case 1:
          now += std::chrono::hours{below(30)};
          break;
        default:
          now += std::chrono::seconds{below(1000)};
      }
      while (!running.empty() && below(3) == 0) {
        const Outcome outcome = below(2) == 0 ? Outcome::failure : Outcome::success;
        engine->end(running.back().task, {outcome, {}, now, 0ms}, now);
        running.pop_back();
      }
      for (Start& start : engine->step(now).starts) running.push_back(std::move(start));

      const SchedulerStatus status =
          read_status(board, calendar, SchedulerStatus::Lifecycle::running, limit, now);
      ASSERT_EQ(status.tasks.size(), list.size());
      EXPECT_EQ(status.running, running.size());
      engine->core().for_each_registered([&](const Core::Task& task) {
        const TaskStatus& shown = *status.find(task.name);
        const Obligations pending =
            obligations_of(task.progress, engine->core().due_since(task), now);
        ASSERT_EQ(shown.owed.has_value(), pending.any()) << task.name;
        if (!pending.any()) return;
        ++owed;
        EXPECT_EQ(shown.owed->reason, pending.reason());
        EXPECT_EQ(shown.owed->since, pending.since(pending.reason()));
        EXPECT_EQ(shown.owed->pulses,
                  walk(calendar,
                       CronExpression::parse(shown.cron),
                       task.progress.served_until,
                       std::max(now, board.time())) +
                      (task.progress.boot_pending ? 1 : 0));
        const bool runs = task.progress.state == TaskState::running;
        EXPECT_EQ(shown.owed->waits_for,
                  runs ? TaskStatus::WaitsFor::own_run : TaskStatus::WaitsFor::limit);
        if (!runs) ++limited;
      });
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(owed, 1000);
  EXPECT_GT(limited, 1000);
}

}  // namespace
}  // namespace dutiful
