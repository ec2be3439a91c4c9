#include "engine/status_board.h"

#include <array>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "engine/engine_in_test.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// The part of the progress that the board shows.
TaskProgress shown_part(TaskProgress progress) {
  progress.retries = 0;
  progress.recurrence = 0;
  progress.recurs_until = no_instant;
  return progress;
}

class Board : public EngineTest {
 protected:
  StatusBoard board;

  void boot() {
    engine.reset();
    board.clear();
    engine = std::make_unique<Engine>(
        Calendar{Zone::utc()},
        policies,
        [this] { return std::make_unique<FaultyStore>(state, faults); },
        *this,
        [this](const TypedEvent& event) {
          if (on_event) on_event(publish(event).name);
        },
        Engine::Prepare{},
        &board);
  }
  std::function<void(std::string_view)> on_event;

  static std::vector<TaskConfig> list(const std::string& names) {
    static const std::array<const char*, 3> crons{"* * * * *", "0,30 * * * *", "0 * * * *"};
    std::vector<TaskConfig> list;
    for (const char name : names) {
      list.push_back({.name = std::string(1, name),
                      .cron = crons[static_cast<std::size_t>(name) % crons.size()],
                      .retry_delay = 1min,
                      .registration = static_cast<std::uint32_t>(list.size())});
    }
    return list;
  }

  // P1: the board shows what the store contains.
  void expect_durable() const {
    const auto shown = board.list();
    ASSERT_EQ(shown->size(), state->rows.size());
    std::map<std::string, const MemoryState::Row*> rows;
    for (const MemoryState::Row& row : state->rows) rows[row.config.name] = &row;
    std::size_t place = 0;
    for (const auto& [name, row] : rows) {
      EXPECT_EQ(shown->name(place), name);
      EXPECT_EQ(shown->schedules()[shown->schedule(place)].text, row->config.cron);
      EXPECT_EQ(shown->read(place).progress, shown_part(row->progress)) << name;
      ++place;
    }
  }
};

TEST_F(Board, shows_no_list_before_the_first_and_after_a_stop) {
  boot();
  EXPECT_EQ(board.list(), nullptr);
  engine->initialize(list("ba"), now);
  ASSERT_NE(board.list(), nullptr);
  EXPECT_EQ(board.list()->name(0), "a");
  EXPECT_EQ(board.list()->name(1), "b");
  EXPECT_TRUE(engine->stop(now));
  EXPECT_EQ(board.list(), nullptr);
}

// P4
TEST_F(Board, keeps_the_list_if_the_next_one_cannot_be_recorded) {
  policies.reinitialize = Reinitialize::reconcile;
  boot();
  engine->initialize(list("a"), now);
  const auto before = board.list();
  faults.replace = 1;
  EXPECT_THROW(engine->initialize(list("b"), now), StoreError);
  EXPECT_EQ(board.list(), before);
}

TEST_F(Board, shows_a_start_and_an_end_when_they_are_recorded) {
  boot();
  engine->initialize(list("a"), now);  // boot: it is due in every minute
  const auto shown = board.list();
  faults.commit = 1;
  EXPECT_TRUE(engine->step(now).starts.empty());
  EXPECT_EQ(shown->read(0).progress.state, TaskState::awaiting_run);
  EXPECT_EQ(board.store_failing_since(), now);
  EXPECT_EQ(board.store_retry_at(), now + StoreRetry::delay_first);
  EXPECT_EQ(board.running(), 0);

  now += StoreRetry::delay_first;
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(shown->read(0).progress.state, TaskState::running);
  EXPECT_EQ(shown->read(0).reason, Reason::boot);
  EXPECT_EQ(board.running(), 1);
  EXPECT_EQ(board.store_failing_since(), no_instant);

  end(starts[0], Outcome::failure, now);
  EXPECT_EQ(shown->read(0).progress.state, TaskState::running);  // not recorded yet
  engine->record_ends(now);
  EXPECT_EQ(shown->read(0).progress.state, TaskState::awaiting_retry);
  EXPECT_EQ(shown->read(0).progress.retry_at, now + 1min);
  EXPECT_EQ(shown->read(0).reason, Reason::boot);
  EXPECT_EQ(board.running(), 0);
}

TEST_F(Board, shows_what_an_event_reports_before_the_event) {
  boot();
  std::vector<TaskState> states;
  on_event = [&](std::string_view name) {
    if (name == "TaskRunStarted" || name == "TaskRunCompleted") {
      states.push_back(board.list()->read(0).progress.state);
    }
  };
  engine->initialize(list("a"), now);
  const auto starts = engine->step(now).starts;
  end(starts.at(0), Outcome::success, now);
  engine->record_ends(now);
  EXPECT_EQ(states, (std::vector{TaskState::running, TaskState::awaiting_run}));
}

// I4: the run of a removed task has no place in the list.
TEST_F(Board, does_not_show_a_removed_task_that_still_runs) {
  policies.reinitialize = Reinitialize::reconcile;
  boot();
  engine->initialize(list("ab"), now);
  const auto starts = engine->step(now).starts;
  ASSERT_EQ(starts.size(), 2);
  engine->initialize(list("b"), now);
  EXPECT_EQ(board.list()->size(), 1);
  EXPECT_EQ(board.running(), 2);
  for (const Start& start : starts) end(start, Outcome::success, now);
  engine->record_ends(now);
  EXPECT_EQ(board.running(), 0);
  expect_durable();
}

// Random worlds: starts, ends, failing stores, other lists, crashes, and clocks that jump.
TEST_F(Board, always_shows_what_the_store_contains) {
  policies.reinitialize = Reinitialize::reconcile;
  policies.max_concurrent = 3;
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random{seed};
    const auto below = [&](unsigned n) { return random() % n; };
    faults = {};
    state = std::make_shared<MemoryState>();
    boot();
    engine->initialize(list("abcdef"), now);
    std::vector<Start> running;
    for (int i = 0; i < 300; ++i) {
      switch (below(12)) {
        case 0:
          now += std::chrono::hours{below(5)};
          break;
        case 1:
          now -= std::chrono::hours{below(5)};
          break;
        case 2:
          faults.commit = static_cast<int>(below(3));
          break;
        case 3: {
          const std::array<const char*, 4> lists{"abcdef", "bdf", "ace", "abcxyz"};
          try {
            engine->initialize(list(lists.at(below(4))), now);
          } catch (const StoreError&) {  // an end could not be recorded
          }
          break;
        }
        case 4:
          if (below(8) == 0) {
            running.clear();
            boot();
            engine->initialize(list("abcdef"), now);
          }
          break;
        default:
          now += std::chrono::seconds{below(100)};
      }
      while (!running.empty() && below(2) == 0) {
        end(running.back(), below(3) == 0 ? Outcome::failure : Outcome::success, now);
        running.pop_back();
      }
      for (Start& start : engine->step(engine->follow(now)).starts) {
        running.push_back(std::move(start));
      }
      expect_durable();
      if (HasFailure()) return;
    }
  }
}

class List : public testing::Test {
 protected:
  Core core{Calendar{Zone::utc()}, 0};

  std::shared_ptr<ShownList> make(std::size_t tasks) {
    std::vector<TaskConfig> configs;
    for (std::size_t i = 0; i < tasks; ++i) {
      configs.push_back({.name = "task " + std::to_string(i), .cron = "0 * * * *"});
    }
    core.apply(make_plan(std::move(configs),
                         {},
                         at("2025-03-03T10:30:00Z"),
                         Calendar{Zone::utc()},
                         Override::keep_history,
                         Runs::are_interrupted),
               at("2025-03-03T10:30:00Z"));
    return std::make_shared<ShownList>(core, tasks);
  }
};

// Every field of the n-th version has the value n.
TEST_F(List, is_read_consistently_while_it_is_written) {
  const auto list = make(1);
  Core::Task task = core.task(0);
  const auto write = [&](std::uint32_t n) {
    const Instant instant{Duration{n}};
    task.progress = {.state = TaskState::running,
                     .attempt = n,
                     .fence = n,
                     .pulse = instant,
                     .served_until = instant,
                     .last_attempt = instant,
                     .last_success = instant,
                     .last_failure = instant,
                     .retry_at = instant};
    list->write(task, static_cast<Reason>(n % 4));
  };
  write(1);
  std::atomic<bool> done = false;
  std::atomic<std::uint32_t> seen = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::uint32_t latest = 1;
      while (!done) {
        const auto [progress, reason] = list->read(0);
        const std::uint32_t n = progress.attempt;
        const Instant instant{Duration{n}};
        ASSERT_GE(n, latest);
        ASSERT_EQ(progress.fence, n);
        ASSERT_EQ(reason, static_cast<Reason>(n % 4));
        for (const Instant field : {progress.pulse,
                                    progress.served_until,
                                    progress.last_attempt,
                                    progress.last_success,
                                    progress.last_failure,
                                    progress.retry_at}) {
          ASSERT_EQ(field, instant);
        }
        latest = n;
        seen = n;
      }
    });
  }
  // Until the readers have followed for a while.
  for (std::uint32_t n = 2; n < 200'000 || seen < 100'000; ++n) write(n);
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(List, belongs_to_its_readers_after_it_is_replaced) {
  StatusBoard board;
  auto first = make(3);
  const std::weak_ptr<ShownList> watched = first;
  board.show(std::move(first));
  auto held = board.list();
  board.show(make(2));
  EXPECT_EQ(held->size(), 3);
  EXPECT_EQ(held->name(2), "task 2");
  EXPECT_EQ(board.list()->size(), 2);
  EXPECT_FALSE(watched.expired());
  held.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(List, is_replaced_while_it_is_read) {
  StatusBoard board;
  std::vector<std::shared_ptr<ShownList>> lists;
  for (std::size_t i = 1; i <= 64; ++i) lists.push_back(make(i));
  std::vector<std::weak_ptr<ShownList>> watched(lists.begin(), lists.end());
  board.show(std::move(lists[0]));
  std::atomic<bool> done = false;
  std::atomic<int> reads = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto list = board.list();
        ASSERT_EQ(list->name(list->size() - 1).substr(0, 5), "task ");
        ++reads;
      }
    });
  }
  for (std::size_t i = 1; i < lists.size(); ++i) {
    while (reads < static_cast<int>(i)) std::this_thread::yield();
    board.show(std::move(lists[i]));
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  board.clear();
  for (const auto& list : watched) EXPECT_TRUE(list.expired());  // none is left behind
}

}  // namespace
}  // namespace dutiful
