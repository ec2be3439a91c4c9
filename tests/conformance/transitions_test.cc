// The lifecycle tables of seed-004: every transition and exactly its events.

#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "conformance/scene.h"
#include "support/journal.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using Does = Scene::Does;
using Names = std::vector<std::string>;

struct Transition {
  const char* what;
  Reinitialize policy;
  std::function<void(Scene&)> given;
  std::function<void(Scene&)> when;
  Names events;  // without those about a poll or the list, which have their own tests
};

void nothing(Scene& /*scene*/) {}

// It is 10:00:30. "a" is due at every full hour, so its first run is for the minute in which it is
// added.
void running(Scene& scene) {
  scene.initialize({{"a", "0 * * * *", 5min}});
}
void callback_runs(Scene& scene) {
  scene.script("a", {Does::keep_running});
  running(scene);
}
void awaiting_retry(Scene& scene) {
  scene.script("a", {Does::fail});
  running(scene);
}

const Transition transitions[] = {
    // Scheduler state transitions
    {"Uninitialized to Initializing to Running",
     Reinitialize::reject,
     nothing,
     [](Scene& scene) {
       scene.initialize({{"a", "0 12 * * *"}});
     },
     {"SchedulerInitializationStarted", "SchedulerInitializationCompleted", "PollingStarted"}},
    {"Initializing to Uninitialized",
     Reinitialize::reject,
     nothing,
     [](Scene& scene) {
       EXPECT_THROW(scene.initialize({{"a", "x"}}), CronExpressionInvalidError);
     },
     {"SchedulerInitializationStarted", "SchedulerInitializationFailed"}},
    {"Running to Running (error state)",
     Reinitialize::reject,
     running,
     [](Scene& scene) { EXPECT_THROW(running(scene), SchedulerAlreadyActiveError); },
     {}},
    {"Running to Stopping to Stopped",
     Reinitialize::reject,
     running,
     [](Scene& scene) { scene.stop(); },
     {"SchedulerStopRequested", "PollingStopRequested", "PollingStopped", "SchedulerStopped"}},
    {"Uninitialized, stopped",
     Reinitialize::reject,
     nothing,
     [](Scene& scene) { scene.stop(); },
     {}},
    {"Running to Reinitializing to Running (seed-000)",
     Reinitialize::reconcile,
     running,
     [](Scene& scene) { running(scene); },
     {"SchedulerReinitializationStarted", "SchedulerReinitializationCompleted"}},
    {"Running to Reinitializing, which fails (seed-000)",
     Reinitialize::reconcile,
     running,
     [](Scene& scene) {
       EXPECT_THROW(scene.initialize({{"a", "x"}}), CronExpressionInvalidError);
     },
     {"SchedulerReinitializationStarted", "SchedulerInitializationFailed"}},

    // Task state transitions
    {"AwaitingRun to Running to AwaitingRun",
     Reinitialize::reject,
     running,
     [](Scene& scene) { scene.advance(1h); },
     {"TaskRunStarted", "TaskRunCompleted"}},
    {"Running to AwaitingRun",
     Reinitialize::reject,
     callback_runs,
     [](Scene& scene) { scene.end("a"); },
     {"TaskRunCompleted"}},
    {"Running to AwaitingRetry",
     Reinitialize::reject,
     callback_runs,
     [](Scene& scene) { scene.fail("a"); },
     {"TaskRunFailed"}},
    {"AwaitingRetry to Running",
     Reinitialize::reject,
     awaiting_retry,
     [](Scene& scene) { scene.advance(5min); },
     {"TaskRetryStarted", "TaskRunStarted", "TaskRunCompleted"}},
    {"AwaitingRetry to AwaitingRun",
     Reinitialize::reconcile,
     [](Scene& scene) {
       scene.script("a", {Does::fail});
       scene.initialize({{"a", "0 * * * *", 3h}});
     },
     [](Scene& scene) { scene.advance(1h); },
     {"TaskRetryPreempted", "TaskRunStarted", "TaskRunCompleted"}},

    // Polling state transitions
    {"Inactive, initialized and stopped",
     Reinitialize::reject,
     nothing,
     [](Scene& scene) {
       scene.initialize({});
       scene.stop();
     },
     {"SchedulerInitializationStarted",
      "SchedulerInitializationCompleted",
      "SchedulerStopRequested",
      "SchedulerStopped"}},
    {"Inactive to Active, with the first task",
     Reinitialize::reconcile,
     [](Scene& scene) { scene.initialize({}); },
     [](Scene& scene) {
       scene.initialize({{"a", "0 12 * * *"}});
     },
     {"SchedulerReinitializationStarted", "SchedulerReinitializationCompleted", "PollingStarted"}},
    {"Active to Inactive, with the last task",
     Reinitialize::reconcile,
     running,
     [](Scene& scene) { scene.initialize({}); },
     {"SchedulerReinitializationStarted", "SchedulerReinitializationCompleted", "PollingStopped"}},
    {"Inactive to stopped, after the last task has gone",
     Reinitialize::reconcile,
     [](Scene& scene) {
       running(scene);
       scene.initialize({});
     },
     [](Scene& scene) { scene.stop(); },
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
    Names emitted;
    Scene scene{
        "2025-03-03T10:00:30Z",
        {.reinitialize = transition.policy, .zone = Zone::utc(), .events = [&](const Event& event) {
           if (is_listed(event.name)) emitted.emplace_back(event.name);
         }}};
    transition.given(scene);
    emitted.clear();
    transition.when(scene);
    EXPECT_EQ(emitted, transition.events);
  }
}

// I4. "Initializing to Initializing (error state)" needs two threads, so it has no row above.
TEST(V, a_list_rejected_while_another_initializes_has_no_events) {
  Journal emitted;
  Gate initializes;
  Gate may_go_on;
  Scheduler scheduler{{.zone = Zone::utc(),
                       .clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z")),
                       .events = [&](const Event& event) { emitted.add(std::string{event.name}); },
                       .prepare =
                           [&] {
                             initializes.open();
                             may_go_on.pass();
                           }}};
  std::thread first{[&] { scheduler.initialize({}); }};
  initializes.pass();

  try {
    scheduler.initialize({{"a", "* * * * *", [] {}, 1min}});
    ADD_FAILURE();
  } catch (const SchedulerAlreadyActiveError& error) {
    EXPECT_STREQ(error.what(), "Cannot initialize scheduler: scheduler is already initializing");
    EXPECT_EQ(error.current_state(), "initializing");
  }
  EXPECT_EQ(emitted.size(), 1U);

  may_go_on.open();
  first.join();
  EXPECT_EQ(emitted.wait_for(2),
            (Names{"SchedulerInitializationStarted", "SchedulerInitializationCompleted"}));
}

}  // namespace
}  // namespace dutiful
