#include <algorithm>
#include <atomic>
#include <filesystem>

#include <gtest/gtest.h>

#include "runtime/runtime_in_test.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

TEST_F(Runtime, starts_a_task_when_it_is_due) {
  Scheduler scheduler{options()};
  scheduler.initialize({{"a", "1 * * * *", [&] { journal.add("a"); }, 1min}});
  clock->advance(29s);
  EXPECT_EQ(journal.size(), 0);
  clock->advance(1s);
  EXPECT_EQ(journal.wait_for(1), Entries{"a"});
  clock->advance(1h);
  EXPECT_EQ(journal.wait_for(2).size(), 2);
}

// ManualClock: when advance() returns, the due tasks have started, from the first call on.
TEST_F(Runtime, has_started_the_due_tasks_when_advance_returns) {
  for (int i = 0; i < 50; ++i) {
    Journal counted;
    {
      Scheduler scheduler{options()};
      scheduler.initialize({{"a", "1 * * * *", [&] { counted.add("a"); }, 1min}});
      clock->advance(1h);
    }
    ASSERT_EQ(counted.size(), 1);
  }
}

// K4: it runs at once if and only if the current minute matches.
TEST_F(Runtime, starts_at_once_in_a_matching_minute) {
  Scheduler scheduler{options()};
  scheduler.initialize({{"now",
                         "0 * * * *",
                         [&](const RunInfo& run) {
                           EXPECT_EQ(run.reason, Reason::boot);
                           EXPECT_EQ(run.attempt, 1);
                           journal.add(run.task);
                         },
                         1min},
                        {"later", "1 * * * *", [&] { journal.add("later"); }, 1min}});
  EXPECT_EQ(journal.wait_for(1), Entries{"now"});
}

// K5, K7: any failure is retried after its delay, to the millisecond.
TEST_F(Runtime, retries_whatever_way_a_callback_fails) {
  Journal recorded;  // another thread hands the end of a run to the scheduler
  Options reporting = options();
  reporting.events = [&](const Event& event) {
    if (event.name == "TaskRunFailed") recorded.add(std::string{event.name});
  };
  Scheduler scheduler{reporting};
  int run_number = 0;
  scheduler.initialize({{"a",
                         "0 * * * *",
                         [&](dutiful::Run run) {
                           journal.add(std::to_string(run.info().attempt) + ' ' +
                                       run.info().key());  // P8
                           switch (++run_number) {
                             case 1:
                               throw 42;
                             case 2:
                               throw std::runtime_error("no");
                             case 3:
                               run.fail("on purpose");
                               return;
                             case 4:
                               return;  // dropped
                             default:
                               run.succeed();
                           }
                         },
                         1500ms}});
  for (std::size_t failures = 1; failures <= 4; ++failures) {
    recorded.wait_for(failures);
    clock->advance(1499ms);
    EXPECT_EQ(journal.size(), failures);
    clock->advance(1ms);
    journal.wait_for(failures + 1);
  }
  scheduler.stop();
  EXPECT_EQ(journal.wait_for(5),
            (Entries{"1 a@2025-03-03T10:00:00.000Z",
                     "2 a@2025-03-03T10:00:00.000Z",
                     "3 a@2025-03-03T10:00:00.000Z",
                     "4 a@2025-03-03T10:00:00.000Z",
                     "5 a@2025-03-03T10:00:00.000Z"}));
}

// P1, T6: a task that was due while no scheduler ran runs once.
TEST_F(Runtime, remembers_across_restarts) {
  const TemporaryDirectory directory;
  Options with_state = options();
  with_state.state = directory.file("state.db");
  const std::vector<Registration> list{
      {"a",
       "0 * * * *",
       [&](const RunInfo& run) { journal.add(run.reason == Reason::cron ? "cron" : "other"); },
       1min}};
  {
    Scheduler scheduler{with_state};
    scheduler.initialize(list);
    journal.wait_for(1);
  }
  clock->advance(5h);
  Scheduler scheduler{with_state};
  scheduler.initialize(list);
  EXPECT_EQ(journal.wait_for(2), (Entries{"other", "cron"}));
  scheduler.stop();
  EXPECT_EQ(journal.size(), 2);
}

// P8: key and fence over a retry, a crash, a restart and a removal.
TEST_F(Runtime, keeps_the_key_and_counts_the_fences) {
  const TemporaryDirectory directory;
  Options with_state = options();
  with_state.state = directory.file("state.db");
  Gate gate;
  const auto note = [&](const RunInfo& run) {
    journal.add(std::string{name_of(run.reason)} + ' ' + run.key() + ' ' +
                std::to_string(run.fence));
    if (run.reason == Reason::boot && run.fence == 1) throw std::runtime_error("again");
    if (run.reason == Reason::retry) gate.pass();
  };
  Scheduler interrupted{with_state};
  interrupted.initialize({{"a", "0 * * * *", note, 0s}});
  journal.wait_for(2);
  // The state as a crash would leave it.
  const std::string left = directory.file("left.db");
  std::filesystem::copy_file(with_state.state, left);
  std::filesystem::copy_file(with_state.state + "-wal", left + "-wal");
  gate.open();
  interrupted.stop();

  with_state.state = left;
  Scheduler scheduler{with_state};
  scheduler.initialize({{"a", "0 * * * *", note, 0s}});
  journal.wait_for(3);
  scheduler.stop();
  scheduler.initialize({});
  scheduler.stop();
  scheduler.initialize({{"a", "0 * * * *", note, 0s}});
  EXPECT_EQ(journal.wait_for(4),
            (Entries{"boot a@2025-03-03T10:00:00.000Z 1",
                     "retry a@2025-03-03T10:00:00.000Z 2",
                     "orphan a@2025-03-03T10:00:00.000Z 3",
                     "boot a@2025-03-03T10:00:00.000Z 4"}));
  clock->advance(1h);
  EXPECT_EQ(journal.wait_for(5).back(), "cron a@2025-03-03T11:00:00.000Z 5");
}

// V: events are in order.
TEST_F(Runtime, reports_what_happens) {
  std::vector<std::string> names;
  Options reporting = options();
  reporting.events = [&](const Event& event) { names.emplace_back(event.name); };
  {
    Scheduler scheduler{reporting};
    scheduler.initialize({{"a", "0 * * * *", [&] { journal.add("a"); }, 1min}});
    journal.wait_for(1);
  }
  // The order of the end of the run and the request to stop is not promised.
  const auto completed = std::ranges::find(names, "TaskRunCompleted");
  ASSERT_NE(completed, names.end());
  names.erase(completed);
  // Neither is the number of steps of the loop.
  std::erase(names, "PollStarted");
  std::erase(names, "PollCompleted");
  EXPECT_EQ(names,
            (Entries{"SchedulerInitializationStarted",
                     "TaskAdded",
                     "TaskScheduled",
                     "SchedulerInitializationCompleted",
                     "PollingStarted",
                     "TaskRunStarted",
                     "SchedulerStopRequested",
                     "PollingStopRequested",
                     "PollingStopped",
                     "SchedulerStopped"}));
}

// V: PollStarted and PollCompleted frame a step in which a task is due. Recording an end is none.
TEST_F(Runtime, reports_no_poll_for_an_end) {
  Journal completed;
  int polls = 0;
  Options reporting = options();
  reporting.events = [&](const Event& event) {
    if (event.name == "PollStarted") ++polls;
    if (event.name == "TaskRunCompleted") completed.add("a");
  };
  Scheduler scheduler{reporting};
  scheduler.initialize({{"a", "0 * * * *", [] {}, 1min}});
  completed.wait_for(1);
  scheduler.stop();
  EXPECT_EQ(polls, 1);
}

// The real clock. This waits no longer than the retries take.
TEST(RealClock, retries_after_milliseconds) {
  const TemporaryDirectory directory;
  Scheduler scheduler{{.state = directory.file("state.db"), .zone = Zone::utc()}};
  Journal journal;
  std::atomic<int> runs = 0;
  scheduler.initialize({{"a",
                         "* * * * *",
                         [&] {
                           journal.add("a");
                           if (++runs < 5) throw std::runtime_error("not yet");
                         },
                         5ms}});
  EXPECT_GE(journal.wait_for(5).size(), 5);
  scheduler.stop();
}

}  // namespace
}  // namespace dutiful
