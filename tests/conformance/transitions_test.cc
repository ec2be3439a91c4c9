// The lifecycle tables of seed-004: every transition, and exactly the events that go with it.

#include <functional>

#include <gtest/gtest.h>

#include "conformance/world.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Does = World::Does;
using Names = std::vector<std::string>;

struct Transition {
  const char* what;
  Reinitialize policy;
  std::function<void(World&)> given;
  std::function<void(World&)> when;
  Names events;  // without those of a single poll and of the list, which have tests of their own
};

void nothing(World& /*world*/) {}

// It is 10:00:30; "a" is due at every full hour, so its first run is that of the minute it comes
// in.
void running(World& world) {
  world.initialize({{"a", "0 * * * *", 5min}});
}
void callback_runs(World& world) {
  world.script("a", {Does::go_on});
  running(world);
}
void awaiting_retry(World& world) {
  world.script("a", {Does::fail});
  running(world);
}

const Transition transitions[] = {
    // Scheduler state transitions
    {"Uninitialized to Initializing to Running",
     Reinitialize::reject,
     nothing,
     [](World& world) {
       world.initialize({{"a", "0 12 * * *"}});
     },
     {"SchedulerInitializationStarted", "SchedulerInitializationCompleted", "PollingStarted"}},
    {"Initializing to Uninitialized",
     Reinitialize::reject,
     nothing,
     [](World& world) {
       EXPECT_THROW(world.initialize({{"a", "x"}}), CronExpressionInvalidError);
     },
     {"SchedulerInitializationStarted", "SchedulerInitializationFailed"}},
    {"Running to Running (error state)",
     Reinitialize::reject,
     running,
     [](World& world) { EXPECT_THROW(running(world), SchedulerAlreadyActiveError); },
     {}},
    {"Running to Stopping to Stopped",
     Reinitialize::reject,
     running,
     [](World& world) { world.stop(); },
     {"SchedulerStopRequested", "PollingStopRequested", "PollingStopped", "SchedulerStopped"}},
    {"Uninitialized, stopped",
     Reinitialize::reject,
     nothing,
     [](World& world) { world.stop(); },
     {}},
    {"Running to Reinitializing to Running (seed-000)",
     Reinitialize::reconcile,
     running,
     [](World& world) { running(world); },
     {"SchedulerReinitializationStarted", "SchedulerReinitializationCompleted"}},
    {"Running to Reinitializing, which fails (seed-000)",
     Reinitialize::reconcile,
     running,
     [](World& world) {
       EXPECT_THROW(world.initialize({{"a", "x"}}), CronExpressionInvalidError);
     },
     {"SchedulerReinitializationStarted", "SchedulerInitializationFailed"}},

    // Task state transitions
    {"AwaitingRun to Running to AwaitingRun",
     Reinitialize::reject,
     running,
     [](World& world) { world.advance(1h); },
     {"TaskRunStarted", "TaskRunCompleted"}},
    {"Running to AwaitingRun",
     Reinitialize::reject,
     callback_runs,
     [](World& world) { world.end("a"); },
     {"TaskRunCompleted"}},
    {"Running to AwaitingRetry",
     Reinitialize::reject,
     callback_runs,
     [](World& world) { world.fail("a"); },
     {"TaskRunFailed"}},
    {"AwaitingRetry to Running",
     Reinitialize::reject,
     awaiting_retry,
     [](World& world) { world.advance(5min); },
     {"TaskRetryStarted", "TaskRunStarted", "TaskRunCompleted"}},
    {"AwaitingRetry to AwaitingRun",
     Reinitialize::reconcile,
     [](World& world) {
       world.script("a", {Does::fail});
       world.initialize({{"a", "0 * * * *", 3h}});
     },
     [](World& world) { world.advance(1h); },
     {"TaskRetryPreempted", "TaskRunStarted", "TaskRunCompleted"}},

    // Polling state transitions
    {"Inactive, initialized and stopped",
     Reinitialize::reject,
     nothing,
     [](World& world) {
       world.initialize({});
       world.stop();
     },
     {"SchedulerInitializationStarted",
      "SchedulerInitializationCompleted",
      "SchedulerStopRequested",
      "SchedulerStopped"}},
    {"Inactive to Active, with the first task",
     Reinitialize::reconcile,
     [](World& world) { world.initialize({}); },
     [](World& world) {
       world.initialize({{"a", "0 12 * * *"}});
     },
     {"SchedulerReinitializationStarted", "SchedulerReinitializationCompleted", "PollingStarted"}},
    {"Active to Inactive, with the last task",
     Reinitialize::reconcile,
     running,
     [](World& world) { world.initialize({}); },
     {"SchedulerReinitializationStarted", "SchedulerReinitializationCompleted", "PollingStopped"}},
    {"Inactive to stopped, after the last task has gone",
     Reinitialize::reconcile,
     [](World& world) {
       running(world);
       world.initialize({});
     },
     [](World& world) { world.stop(); },
     {"SchedulerStopRequested", "SchedulerStopped"}},
};

bool is_listed(std::string_view name) {
  if (name == "PollStarted" || name == "PollCompleted") return false;
  for (const std::string_view of_a_list : {"TaskAdded",
                                           "TaskPreserved",
                                           "TaskOverridden",
                                           "TaskOrphaned",
                                           "TaskRemoved",
                                           "TaskScheduled",
                                           "TaskSkipped"}) {
    if (name == of_a_list) return false;
  }
  return true;
}

TEST(V, every_transition_has_exactly_its_events) {
  for (const Transition& transition : transitions) {
    SCOPED_TRACE(transition.what);
    Names told;
    World world{
        "2025-03-03T10:00:30Z",
        {.reinitialize = transition.policy, .zone = Zone::utc(), .events = [&](const Event& event) {
           if (is_listed(event.name)) told.emplace_back(event.name);
         }}};
    transition.given(world);
    told.clear();
    transition.when(world);
    EXPECT_EQ(told, transition.events);
  }
}

}  // namespace
}  // namespace dutiful
