#include "runtime/workers.h"

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/journal.h"
#include "support/thread_creation.h"

namespace dutiful {

struct WorkersInTest {
  static std::size_t threads(Workers& workers) {
    const Lock lock{workers.mutex_};
    return workers.workers_.size();
  }
  static std::size_t idle_threads(Workers& workers) {
    const Lock lock{workers.mutex_};
    return workers.idle_.size();
  }
};

namespace {

using namespace std::chrono_literals;

std::shared_ptr<ActiveRun> run(TaskId id) {
  return std::make_shared<ActiveRun>(id, Callback{}, std::weak_ptr<Mailbox>{});
}

Queue<ActiveRun> runs(TaskId count, TaskId first = 0) {
  Queue<ActiveRun> made;
  for (TaskId id = first; id < first + count; ++id) made.push(run(id));
  return made;
}

// Until there are enough threads, or no more to be had: says which.
Workers::Growth grow_to_the_end(Workers& workers) {
  auto growth = Workers::Growth::wanted;
  while ((growth = workers.grow()) == Workers::Growth::wanted) std::this_thread::yield();
  return growth;
}

void wait_until_idle(Workers& workers, std::size_t threads) {
  while (WorkersInTest::idle_threads(workers) != threads) std::this_thread::yield();
}

TEST(Workers, grow_as_long_as_work_waits) {
  Journal begun;
  Gate gate;
  Workers workers{8, [&](const std::shared_ptr<ActiveRun>&) {
                    begun.add("one");
                    gate.pass();
                  }};
  workers.start_first();
  EXPECT_EQ(WorkersInTest::threads(workers), 1U);
  workers.add(runs(6));
  EXPECT_EQ(grow_to_the_end(workers), Workers::Growth::enough);
  begun.wait_for(6);  // at once, for none of them can end
  gate.open();
}

TEST(Workers, stay_within_their_bound) {
  Journal begun;
  Gate gate;
  Workers workers{3,
                  [&](const std::shared_ptr<ActiveRun>&) {
                    begun.add("one");
                    gate.pass();
                  },
                  1h};
  workers.start_first();
  workers.add(runs(7));
  EXPECT_EQ(grow_to_the_end(workers), Workers::Growth::enough);
  EXPECT_EQ(WorkersInTest::threads(workers), 3U);
  begun.wait_for(3);
  gate.open();
  begun.wait_for(7);
  EXPECT_EQ(WorkersInTest::threads(workers), 3U);
}

TEST(Workers, give_back_all_threads_but_one_when_they_idle) {
  for (const Duration idle_max : {0ms, 1ms}) {
    Journal begun;
    std::atomic<bool> may_end = false;
    Workers workers{8,
                    [&](const std::shared_ptr<ActiveRun>&) {
                      begun.add("one");
                      may_end.wait(false);
                    },
                    idle_max};
    workers.start_first();
    for (std::size_t round = 1; round <= 3; ++round) {  // and grow again
      may_end = false;
      workers.add(runs(8));
      EXPECT_EQ(grow_to_the_end(workers), Workers::Growth::enough);
      begun.wait_for(8 * round);
      EXPECT_EQ(WorkersInTest::threads(workers), 8U);
      may_end = true;
      may_end.notify_all();
      while (WorkersInTest::threads(workers) > 1) std::this_thread::yield();
      wait_until_idle(workers, 1);
    }
  }
}

TEST(Workers, keep_threads_that_have_worked_a_moment_ago) {
  Journal begun;
  Gate gate;
  Workers workers{4,
                  [&](const std::shared_ptr<ActiveRun>&) {
                    begun.add("one");
                    gate.pass();
                  },
                  1h};
  workers.start_first();
  workers.add(runs(4));
  EXPECT_EQ(grow_to_the_end(workers), Workers::Growth::enough);
  begun.wait_for(4);
  gate.open();
  wait_until_idle(workers, 4);
}

// So the others idle long enough to be given back, however often there is a little to do.
TEST(Workers, call_the_thread_that_worked_last) {
  Journal begun;
  Gate gate;
  std::mutex mutex;
  std::vector<std::thread::id> threads;
  Workers workers{4,
                  [&](const std::shared_ptr<ActiveRun>&) {
                    {
                      const std::lock_guard lock{mutex};
                      threads.push_back(std::this_thread::get_id());
                    }
                    begun.add("one");
                    gate.pass();
                  },
                  1h};
  workers.start_first();
  workers.add(runs(4));
  EXPECT_EQ(grow_to_the_end(workers), Workers::Growth::enough);
  begun.wait_for(4);
  gate.open();
  for (std::size_t round = 1; round <= 10; ++round) {
    wait_until_idle(workers, 4);
    workers.add(runs(1));
    begun.wait_for(4 + round);
  }
  wait_until_idle(workers, 4);
  const std::lock_guard lock{mutex};
  ASSERT_EQ(threads.size(), 14U);
  for (std::size_t i = 5; i < threads.size(); ++i) EXPECT_EQ(threads[i], threads[4]) << i;
}

// Threads are given back and started again all the time.
TEST(Workers, do_everything_once_under_contention) {
  constexpr std::size_t adders = 3;
  constexpr std::size_t rounds = 300;
  constexpr std::size_t runs_at_once = 5;
  constexpr std::size_t total = adders * rounds * runs_at_once;
  std::vector<std::atomic<int>> times(total);
  std::atomic<std::size_t> done = 0;
  {
    Workers workers{16,
                    [&](const std::shared_ptr<ActiveRun>& run) {
                      ++times[run->task];
                      ++done;
                    },
                    0ms};
    workers.start_first();
    std::vector<std::thread> threads;
    for (std::size_t adder = 0; adder < adders; ++adder) {
      threads.emplace_back([&, adder] {
        for (std::size_t round = 0; round < rounds; ++round) {
          workers.add(
              runs(runs_at_once, static_cast<TaskId>((adder * rounds + round) * runs_at_once)));
          (void)workers.grow();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    while (done < total) std::this_thread::yield();
    while (WorkersInTest::threads(workers) > 1) std::this_thread::yield();
  }
  for (std::size_t i = 0; i < total; ++i) ASSERT_EQ(times[i], 1) << i;
}

TEST(Workers, drop_what_has_not_begun_and_wait_for_what_has) {
  Journal begun;
  Gate gate;
  std::atomic<bool> ended = false;
  std::optional<Workers> workers;
  workers.emplace(1, [&](const std::shared_ptr<ActiveRun>&) {
    begun.add("one");
    gate.pass();
    ended = true;
  });
  workers->start_first();
  Queue<ActiveRun> queue = runs(1);
  const auto last = [&] {
    auto made = run(1);
    std::weak_ptr<ActiveRun> observed = made;
    queue.push(std::move(made));
    return observed;
  }();
  workers->add(std::move(queue));
  begun.wait_for(1);
  auto destroyed = std::async(std::launch::async, [&] { workers.reset(); });
  while (!last.expired()) std::this_thread::yield();
  EXPECT_FALSE(ended);
  gate.open();
  destroyed.get();
  EXPECT_TRUE(ended);
  EXPECT_EQ(begun.size(), 1U);
}

// X3
TEST(Workers, say_so_where_there_is_not_even_one_thread) {
  Workers workers{4, [](const std::shared_ptr<ActiveRun>&) {}};
  const ThreadLimit limit{0};
  EXPECT_THROW(workers.start_first(), std::system_error);
}

TEST(Workers, have_no_thread_before_they_are_asked_for_one) {
  Workers workers{4, [](const std::shared_ptr<ActiveRun>&) {}};
  EXPECT_EQ(WorkersInTest::threads(workers), 0U);
  EXPECT_EQ(workers.grow(), Workers::Growth::enough);
  workers.start_first();
  workers.start_first();
  EXPECT_EQ(WorkersInTest::threads(workers), 1U);
}

// X3
TEST(Workers, do_everything_with_the_one_thread_that_can_be_had) {
  Journal done;
  Gate gate;
  Workers workers{4, [&](const std::shared_ptr<ActiveRun>&) {
                    gate.pass();
                    done.add("one");
                  }};
  workers.start_first();
  const ThreadLimit limit{0};
  workers.add(runs(3));
  EXPECT_EQ(grow_to_the_end(workers), Workers::Growth::failed);
  gate.open();
  done.wait_for(3);
}

}  // namespace
}  // namespace dutiful
