#include "runtime/runs_in_progress.h"

#include <new>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/allocations.h"
#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Instant noon = at("2025-03-03T12:00:00Z");

std::shared_ptr<ActiveRun> run(TaskId task, Instant deadline = Instant::max()) {
  auto made = std::make_shared<ActiveRun>(task, Callback{}, std::weak_ptr<Mailbox>{});
  made->stop = std::make_shared<StopState>(StopState::Limit::some);
  made->deadline = deadline;
  return made;
}

// Which of the runs the requests are for, by their place.
std::vector<std::size_t> asked(const StopRequests& requests,
                               const std::vector<std::shared_ptr<ActiveRun>>& runs) {
  std::vector<std::size_t> places;
  for (const StopRequest& request : requests) {
    for (std::size_t place = 0; place < runs.size(); ++place) {
      if (runs[place]->stop == request.run) places.push_back(place);
    }
  }
  return places;
}

// X2
TEST(RunsInProgress, are_asked_to_stop_at_their_deadlines_once) {
  RunsInProgress runs;
  const std::vector all{run(7, noon + 2s), run(8, noon + 1s), run(9), run(5, noon + 2s)};
  for (const auto& each : all) runs.add(each);
  EXPECT_EQ(runs.next_deadline(), noon + 1s);

  runs.enforce_limits(noon);
  EXPECT_THAT(runs.take_stop_requests(), IsEmpty());

  runs.enforce_limits(noon + 1s);
  EXPECT_THAT(asked(runs.take_stop_requests(), all), ElementsAre(1));
  EXPECT_TRUE(all[1]->timed_out);
  EXPECT_FALSE(all[0]->timed_out);
  EXPECT_EQ(runs.next_deadline(), noon + 2s);

  runs.enforce_limits(noon + 1h);
  EXPECT_THAT(asked(runs.take_stop_requests(), all), ElementsAre(3, 0));
  EXPECT_EQ(runs.next_deadline(), Instant::max());
}

TEST(RunsInProgress, are_asked_nothing_after_their_end) {
  RunsInProgress runs;
  const auto ended = run(1, noon);
  runs.add(ended);
  runs.remove(*ended);
  EXPECT_TRUE(runs.empty());
  EXPECT_EQ(runs.next_deadline(), Instant::max());
  runs.enforce_limits(noon + 1h);
  runs.request_stop_of_all();
  EXPECT_THAT(runs.take_stop_requests(), IsEmpty());
  EXPECT_FALSE(ended->timed_out);
}

// I5
TEST(RunsInProgress, are_all_asked_to_stop_in_the_order_of_their_tasks) {
  RunsInProgress runs;
  const std::vector all{run(30), run(10, noon), run(20)};
  for (const auto& each : all) runs.add(each);
  runs.request_stop_of_all();
  const StopRequests requests = runs.take_stop_requests();
  EXPECT_THAT(asked(requests, all), ElementsAre(1, 2, 0));

  EXPECT_EQ(all[0]->stop->reason(), std::nullopt);  // not before they are sent
  send(requests);
  EXPECT_EQ(all[0]->stop->reason(), StopReason::stopping);
  EXPECT_FALSE(all[1]->timed_out);
}

// X3: whatever allocation fails, a second try does all of it.
TEST(RunsInProgress, change_nothing_if_memory_runs_out) {
  // Lets each allocation fail in turn; returns how many did.
  const auto retried = [](auto work) {
    for (int failures = 0;; ++failures) {
      fail_allocation(static_cast<std::uint64_t>(failures) + 1);
      try {
        work();
        fail_allocation(0);
        return failures;
      } catch (const std::bad_alloc&) {
      }
    }
  };
  RunsInProgress runs;
  const std::vector all{run(1, noon), run(2, noon + 1h)};
  for (const auto& each : all) {
    EXPECT_GT(retried([&] { runs.add(each); }), 0);
  }
  EXPECT_GT(retried([&] { runs.enforce_limits(noon); }), 0);
  EXPECT_TRUE(all[0]->timed_out);
  EXPECT_GT(retried([&] { runs.request_stop_of_all(); }), 0);
  EXPECT_THAT(asked(runs.take_stop_requests(), all), ElementsAre(0, 0, 1));
}

}  // namespace
}  // namespace dutiful
