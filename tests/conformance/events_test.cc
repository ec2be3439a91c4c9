// Section V of the rules: the log contract. Each event is reported with its level and its fields.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/scene.h"
#include "support/journal.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::days;

// The events of a scheduler. They live longer than it does.
class Log {
 public:
  EventSink sink() {
    return [this](const Event& event) { events.push_back(event); };
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Event& event : events) all.emplace_back(event.name);
    return all;
  }
  [[nodiscard]] const Event* find(std::string_view name, std::string_view task = {}) const {
    const auto matches = [&](const Event& event) {
      return event.name == name && (task.empty() || text(event, "taskName") == task);
    };
    const auto found = std::ranges::find_if(events, matches);
    return found == events.end() ? nullptr : &*found;
  }
  static const EventField* field(const Event& event, std::string_view name) {
    const auto found = std::ranges::find(event.fields, name, &EventField::name);
    return found == event.fields.end() ? nullptr : &*found;
  }
  static std::string text(const Event& event, std::string_view name) {
    const EventField* found = field(event, name);
    const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
    return value == nullptr ? "" : *value;
  }
  static std::int64_t number(const Event& event, std::string_view name) {
    const EventField* found = field(event, name);
    const auto* value = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
    return value == nullptr ? -1 : *value;
  }

  std::vector<Event> events;
};

struct Row {
  const char* name;
  Level level;
  const char* fields;  // each with the letter of its type: Bool, Number, String, Object
};

// Seed-002, "Logging & Event Contract", and the additions of RULES V.
constexpr Row contract[] = {
    {"SchedulerInitializationStarted", Level::debug, "totalRegistrations:N"},
    {"SchedulerInitializationCompleted",
     Level::debug,
     "totalRegistrations:N scheduledCount:N skippedCount:N"},
    {"SchedulerInitializationFailed", Level::warning, "error:S"},
    {"SchedulerReinitializationStarted", Level::debug, ""},
    {"SchedulerReinitializationCompleted", Level::debug, ""},
    {"SchedulerStopRequested", Level::info, ""},
    {"SchedulerStopped", Level::info, ""},
    {"TaskRunStarted", Level::info, "taskName:S scheduledTime:S actualTime:S reason:S attempt:N"},
    {"TaskRunCompleted", Level::info, "taskName:S duration:N success:B reason:S attempt:N"},
    {"TaskRunFailed",
     Level::warning,
     "taskName:S duration:N success:B error:S nextRetryAt:S reason:S attempt:N"},
    {"TaskRetryStarted", Level::info, "taskName:S retryCount:N"},
    {"TaskRetryPreempted", Level::info, "taskName:S reason:S"},
    {"PollStarted", Level::debug, "pollTime:S scheduledTaskCount:N"},
    {"PollCompleted", Level::debug, "pollTime:S tasksEvaluated:N tasksExecuted:N duration:N"},
    {"PollingStarted", Level::debug, ""},
    {"PollingStopped", Level::debug, ""},
    {"PollingStopRequested", Level::debug, ""},
    {"TaskAdded", Level::info, "taskName:S cronExpression:S retryDelayMs:N"},
    {"TaskPreserved", Level::debug, "taskName:S"},
    {"TaskOverridden", Level::info, "taskName:S changeType:S oldState:O newState:O"},
    {"TaskOrphaned", Level::warning, "taskName:S lastExecutionTime:S schedulerIdentifier:S"},
    {"TaskRemoved", Level::info, "taskName:S lastExecutionTime:S"},
    {"TaskScheduled", Level::debug, "taskName:S cronExpression:S retryDelayMs:N"},
    {"TaskSkipped", Level::debug, "taskName:S reason:S"},
    {"TaskNeverDue", Level::warning, "taskName:S cronExpression:S"},
    {"ClockCorrected", Level::warning, "taskName:S persistedTime:S"},
    {"DueSkipped", Level::info, "taskName:S scheduledTime:S reason:S"},
    {"SchedulingDelayed", Level::warning, "taskName:S dueTime:S delay:N"},
    {"AccessRefused", Level::warning, "what:S reason:S who:S"},
};

std::string shape_of(const Event& event) {
  std::string shape;
  for (const EventField& field : event.fields) {
    if (!shape.empty()) shape += ' ';
    shape += std::string{field.name} + ':' + "BNSO"[field.value.index()];
  }
  return shape;
}

// The events, in order, of a scheduler to which everything happens.
Log life() {
  Log log;
  {
    Scene scene{"2025-03-08T12:00:00-05:00",
                {.reinitialize = Reinitialize::reconcile,
                 .zone = Zone::load("America/New_York"),
                 .events = log.sink()}};
    EXPECT_THROW(scene.initialize({{"a", "x"}}), CronExpressionInvalidError);
    // It fails, is retried, fails, and is pre-empted by the next hour.
    scene.script("a", {Does::fail, Does::fail});
    scene.initialize({{"a", "0 * * * *", 40min},
                      {"never", "0 0 30 2 *"},
                      {"skipped", "30 2 * * *"},
                      {"leaves", "5 5 * * *"}});
    scene.advance(days{1});
    scene.initialize({{"a", "0 * * * *", 5min}, {"skipped", "30 2 * * *"}});
    scene.script("a", {Does::keep_running});
    scene.advance(1h);
    scene.crash();
    scene.advance(5h);
    scene.initialize({{"a", "0 * * * *", 5min}, {"skipped", "30 2 * * *"}});
    scene.stop();
  }
  {
    // This part uses threads, so the clock is set back only after the run's end is recorded, and
    // the scheduler is stopped only after it has seen the new time.
    const auto clock = std::make_shared<ManualClock>(at("2025-03-03T10:00:30Z"));
    Journal completed;
    Journal corrected;
    const auto note = [&, sink = log.sink()](const Event& event) {
      sink(event);
      if (event.name == "TaskRunCompleted") completed.add("a");
      if (event.name == "ClockCorrected") corrected.add("a");
    };
    Scheduler scheduler{{.zone = Zone::utc(), .clock = clock, .events = note}};
    scheduler.initialize({{"a", "0 * * * *", [] {}, 1min}});
    completed.wait_for(1);
    clock->set(at("2025-03-01T10:00:30Z"));
    corrected.wait_for(1);
    scheduler.stop();
  }
  {
    const TemporaryDirectory directory;
    Scheduler holder{{.state = directory.file("state.db"), .zone = Zone::utc()}};
    holder.initialize({});
    Scheduler other{
        {.state = directory.file("state.db"), .zone = Zone::utc(), .events = log.sink()}};
    EXPECT_THROW(other.initialize({}), StateHeldError);
  }
  return log;
}

TEST(V, every_event_has_its_name_level_and_fields) {
  const Log log = life();
  for (const Row& row : contract) {
    const Event* event = log.find(row.name);
    ASSERT_NE(event, nullptr) << row.name << " was never reported";
    EXPECT_EQ(event->level, row.level) << row.name;
    EXPECT_EQ(shape_of(*event), row.fields) << row.name;
  }
  // No event is missing from the contract.
  for (const std::string& name : log.names()) {
    EXPECT_NE(std::ranges::find(contract, name, &Row::name), std::end(contract)) << name;
  }
}

// V: a run says why it started and which attempt it was, at its start and at its end.
TEST(V, the_end_of_a_run_names_its_reason_and_attempt) {
  Log log;
  Scene scene{"2025-03-03T10:00:00Z", {.zone = Zone::utc(), .events = log.sink()}};
  scene.script("a", {Does::fail, Does::succeed});
  scene.initialize({{"a", "0,30 * * * *", 20min}});
  scene.advance(30min);
  std::vector<std::string> runs;
  for (const Event& event : log.events) {
    if (!event.name.starts_with("TaskRun")) continue;
    const auto attempt = std::ranges::find(event.fields, "attempt", &EventField::name);
    ASSERT_NE(attempt, event.fields.end()) << to_json(event);
    runs.push_back(std::string{event.name} + ' ' + Log::text(event, "reason") + ' ' +
                   std::to_string(std::get<std::int64_t>(attempt->value)));
  }
  EXPECT_EQ(runs,
            (std::vector<std::string>{"TaskRunStarted boot 1",
                                      "TaskRunFailed boot 1",
                                      "TaskRunStarted retry 2",
                                      "TaskRunCompleted retry 2",
                                      "TaskRunStarted cron 1",
                                      "TaskRunCompleted cron 1"}));
}

TEST(V, times_are_iso_8601) {
  const Log log = life();
  for (const auto& [name, field] : std::initializer_list<std::pair<const char*, const char*>>{
           {"TaskRunStarted", "scheduledTime"},
           {"TaskRunStarted", "actualTime"},
           {"TaskRunFailed", "nextRetryAt"},
           {"PollStarted", "pollTime"},
           {"TaskOrphaned", "lastExecutionTime"},
           {"ClockCorrected", "persistedTime"},
           {"SchedulingDelayed", "dueTime"}}) {
    const Event* event = log.find(name);
    ASSERT_NE(event, nullptr) << name;
    const std::string text = Log::text(*event, field);
    EXPECT_EQ(format_utc(at(text)), text) << name << ' ' << field;
  }
}

TEST(V, the_events_of_a_task_are_in_causal_order) {
  Log log;
  Scene scene{"2025-03-03T10:00:00Z", {.zone = Zone::utc(), .events = log.sink()}};
  scene.script("a", {Does::fail, Does::fail});
  scene.initialize({{"a", "0,30 * * * *", 20min}});
  scene.advance(30min);
  std::vector<std::string> names;
  for (const Event& event : log.events) {
    if (Log::text(event, "taskName") == "a") names.emplace_back(event.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"TaskAdded",
                                      "TaskScheduled",
                                      "TaskRunStarted",
                                      "TaskRunFailed",
                                      "TaskRetryStarted",
                                      "TaskRunStarted",
                                      "TaskRunFailed",
                                      "TaskRetryPreempted",
                                      "TaskRunStarted",
                                      "TaskRunCompleted"}));
}

TEST(V, a_start_that_serves_several_pulses_says_how_many_more) {
  Log log;
  Scene scene{"2025-03-03T10:00:00Z", {.zone = Zone::utc(), .events = log.sink()}};
  scene.initialize({{"a", "0 * * * *"}});
  scene.stop();
  scene.advance(5h);
  log.events.clear();
  scene.initialize({{"a", "0 * * * *"}});
  const Event* start = log.find("TaskRunStarted");
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(Log::text(*start, "scheduledTime"), "2025-03-03T11:00:00.000Z");
  EXPECT_EQ(Log::number(*start, "missedCount"), 4);
}

TEST(V, effects_of_dst_are_reported) {
  Log log;
  Scene scene{"2025-11-02T00:00:30-04:00",
              {.zone = Zone::load("America/New_York"), .events = log.sink()}};
  scene.initialize({{"a", "30 1 * * *"}, {"b", "30 2 * * *"}});
  scene.advance(days{200});
  int repeated = 0;
  for (const Event& event : log.events) {
    if (Log::field(event, "isRepeatedMinute") != nullptr) ++repeated;
  }
  EXPECT_EQ(repeated, 1);
  const auto skipped = std::ranges::count(log.names(), "DueSkipped");
  EXPECT_EQ(skipped, 1);
  EXPECT_EQ(Log::text(*log.find("DueSkipped"), "taskName"), "b");
  EXPECT_EQ(Log::text(*log.find("DueSkipped"), "scheduledTime"), "2026-03-08T02:30");
  EXPECT_EQ(Log::text(*log.find("DueSkipped"), "reason"), "gap");
}

TEST(V, a_name_cannot_forge_a_line) {
  Log log;
  Scene scene{"2025-03-03T10:00:00Z", {.zone = Zone::utc(), .events = log.sink()}};
  const std::string name = "a\n{\"event\":\"SchedulerStopped\"}\"\xff\x01";
  scene.initialize({{name, "0 * * * *"}});
  const Event* started = log.find("TaskRunStarted");
  ASSERT_NE(started, nullptr);
  EXPECT_EQ(Log::text(*started, "taskName"), name);
  const std::string line = to_json(*started);
  EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c != '\x7f'; })) << line;
}

// A failed initialize() is reported, wherever it fails.
TEST(V, a_failed_initialization_says_why) {
  Log log;
  VirtualScheduler scheduler{at("2025-03-03T10:00:00Z"),
                             {.zone = Zone::utc(), .events = log.sink()}};
  EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", {}, 1min}}), InvalidRegistrationError);
  EXPECT_THROW(scheduler.initialize({{"a", "* * * * *", [] {}, -1min}}), NegativeRetryDelayError);
  scheduler.initialize({});
  EXPECT_THROW(scheduler.initialize({}), SchedulerAlreadyActiveError);
  std::vector<std::string> errors;
  for (const Event& event : log.events) {
    if (event.name == "SchedulerInitializationFailed") errors.push_back(Log::text(event, "error"));
  }
  EXPECT_EQ(errors,
            (std::vector<std::string>{
                "Invalid registration: callback of task \"a\" is null; register something to call",
                "Retry delay must be non-negative"}));
  // Each has begun. A rejection by an active scheduler emits nothing (seed-004).
  EXPECT_EQ(std::ranges::count(log.names(), "SchedulerInitializationStarted"), 3);
}

// It fails twice, is interrupted in its second retry, fails when it is restarted, and fails again
// at the next pulse. Returns "scheduled actual" of each start, or the number of the retry.
std::vector<std::string> starts_of_a_failing_task() {
  Log log;
  Scene scene{"2025-03-03T10:00:30Z", {.zone = Zone::utc(), .events = log.sink()}};
  const std::vector<Scene::Task> list{{"a", "0 * * * *", 5min}};
  scene.script("a",
               {Does::fail, Does::fail, Does::keep_running, Does::fail, Does::succeed, Does::fail});
  scene.initialize(list);
  scene.advance_to("2025-03-03T10:11:00Z");
  scene.crash();
  scene.initialize(list);
  scene.advance_to("2025-03-03T11:30:00Z");
  std::vector<std::string> reported;
  for (const Event& event : log.events) {
    if (event.name == "TaskRetryStarted") {
      reported.push_back("retry " + std::to_string(Log::number(event, "retryCount")));
    }
    if (event.name != "TaskRunStarted") continue;
    std::string text = Log::text(event, "scheduledTime").substr(11, 8) + ' ' +
                       Log::text(event, "actualTime").substr(11, 8);
    const EventField* is_retry = Log::field(event, "isRetry");
    if (is_retry != nullptr) text += std::get<bool>(is_retry->value) ? " is a retry" : " is none";
    reported.push_back(text);
  }
  return reported;
}

// A run for a pulse, a restart after a crash and a first run are not retries and have no isRetry.
// retryCount continues after the crash and restarts with the next pulse.
TEST(V, retries_are_marked_and_counted) {
  EXPECT_EQ(starts_of_a_failing_task(),
            (std::vector<std::string>{"10:00:00 10:00:30",
                                      "retry 1",
                                      "10:05:30 10:05:30 is a retry",
                                      "retry 2",
                                      "10:10:30 10:10:30 is a retry",
                                      "10:00:00 10:11:00",
                                      "retry 3",
                                      "10:16:00 10:16:00 is a retry",
                                      "11:00:00 11:00:00",
                                      "retry 1",
                                      "11:05:00 11:05:00 is a retry"}));
}

TEST(V, an_override_says_what_has_changed) {
  Log log;
  Scene scene{"2025-03-03T10:00:30Z", {.zone = Zone::utc(), .events = log.sink()}};
  scene.initialize({{"both", "5 * * * *", 1min},
                    {"cron", "5 * * * *", 1min},
                    {"delay", "5 * * * *", 1min},
                    {"same", "5 * * * *", 1min}});
  scene.stop();
  log.events.clear();
  scene.initialize({{"both", "05 * * * *", 2500ms},
                    {"cron", "05 * * * *", 1min},
                    {"delay", "5 * * * *", 0ms},
                    {"same", "5 * * * *", 1min}});
  std::vector<std::string> reported;
  for (const Event& event : log.events) {
    if (event.name != "TaskOverridden") continue;
    const std::string line = to_json(event);
    reported.push_back(line.substr(line.find(R"("taskName")")));
  }
  EXPECT_EQ(reported,
            (std::vector<std::string>{
                R"("taskName":"both","changeType":"cronExpression,retryDelay",)"
                R"("oldState":{"cronExpression":"5 * * * *","retryDelayMs":60000},)"
                R"("newState":{"cronExpression":"05 * * * *","retryDelayMs":2500}})",
                R"("taskName":"cron","changeType":"cronExpression",)"
                R"("oldState":{"cronExpression":"5 * * * *","retryDelayMs":60000},)"
                R"("newState":{"cronExpression":"05 * * * *","retryDelayMs":60000}})",
                R"("taskName":"delay","changeType":"retryDelay",)"
                R"("oldState":{"cronExpression":"5 * * * *","retryDelayMs":60000},)"
                R"("newState":{"cronExpression":"5 * * * *","retryDelayMs":0}})"}));
  ASSERT_NE(log.find("TaskPreserved"), nullptr);
  EXPECT_EQ(Log::text(*log.find("TaskPreserved"), "taskName"), "same");
}

// I4, seed-000: there are no events about tasks of a rejected list, and the previous list keeps
// running.
TEST(V, a_failed_reconcile_says_why_and_nothing_else) {
  Log log;
  Scene scene{"2025-03-03T10:00:30Z",
              {.reinitialize = Reinitialize::reconcile, .zone = Zone::utc(), .events = log.sink()}};
  scene.initialize({{"a", "5 * * * *"}});
  log.events.clear();
  std::string error;
  try {
    scene.initialize({{"b", "* * * * *"}, {"c", "*/5 * * * *"}});
  } catch (const CronExpressionInvalidError& thrown) {
    error = thrown.what();
  }
  EXPECT_EQ(log.names(),
            (std::vector<std::string>{"SchedulerReinitializationStarted",
                                      "SchedulerInitializationFailed"}));
  EXPECT_EQ(Log::text(log.events.back(), "error"), error);
  EXPECT_NE(error, "");
  scene.advance(1h);
  EXPECT_EQ(scene.starts(), Starts{"10:05:00 a cron"});
}

TEST(V, an_absent_retry_or_run_has_no_time) {
  Log log;
  Scene scene{"2025-03-03T10:00:30Z",
              {.reinitialize = Reinitialize::reconcile, .zone = Zone::utc(), .events = log.sink()}};
  scene.script("runs", {Does::keep_running});
  scene.initialize({{"runs", "0 * * * *"}, {"never ran", "5 * * * *"}});
  scene.initialize({});
  scene.fail("runs");
  const Event* failed = log.find("TaskRunFailed", "runs");
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(Log::field(*failed, "nextRetryAt"), nullptr);
  const Event* ran = log.find("TaskRemoved", "runs");
  ASSERT_NE(ran, nullptr);
  EXPECT_EQ(Log::text(*ran, "lastExecutionTime"), "2025-03-03T10:00:30.000Z");
  const Event* never_ran = log.find("TaskRemoved", "never ran");
  ASSERT_NE(never_ran, nullptr);
  EXPECT_EQ(Log::field(*never_ran, "lastExecutionTime"), nullptr);
}

// K5: a delay may be of any length, but a clock comes only so far.
TEST(V, a_retry_that_never_comes_has_no_time) {
  Log log;
  Scene scene{"2025-03-03T10:00:30Z", {.zone = Zone::utc(), .events = log.sink()}};
  scene.script("a", {Does::fail});
  scene.script("b", {Does::fail});
  scene.initialize({{"a", "0 * * * *", Duration::max()}, {"b", "0 * * * *", 24h * 365 * 7000}});
  const Event* never = log.find("TaskRunFailed", "a");
  ASSERT_NE(never, nullptr);
  EXPECT_EQ(Log::field(*never, "nextRetryAt"), nullptr);
  const Event* late = log.find("TaskRunFailed", "b");
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(Log::text(*late, "nextRetryAt").substr(0, 4), "9020");
}

// seed-002: security-relevant events. P6: the error names the holder, which keeps running.
TEST(V, a_state_that_another_holds_is_access_refused) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  Scheduler holder{{.state = state, .zone = Zone::utc()}};
  holder.initialize({});
  Log log;
  Scheduler other{{.state = state, .zone = Zone::utc(), .events = log.sink()}};
  std::string who;
  try {
    other.initialize({});
  } catch (const StateHeldError& error) {
    who = error.holder();
  }
  EXPECT_EQ(
      log.names(),
      (std::vector<std::string>{
          "SchedulerInitializationStarted", "AccessRefused", "SchedulerInitializationFailed"}));
  const Event* refused = log.find("AccessRefused");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->level, Level::warning);
  EXPECT_EQ(Log::text(*refused, "what"), state);
  EXPECT_EQ(Log::text(*refused, "reason"), "the state is in use");
  EXPECT_EQ(Log::text(*refused, "who"), who);
  EXPECT_NE(who, "");
  EXPECT_THROW(holder.initialize({}), SchedulerAlreadyActiveError);
}

// Another user may have created it.
TEST(V, a_state_with_several_names_is_access_refused) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  std::ofstream{state}.close();
  std::filesystem::create_hard_link(state, directory.file("another"));
  Log log;
  Scheduler scheduler{{.state = state, .zone = Zone::utc(), .events = log.sink()}};
  EXPECT_THROW(scheduler.initialize({}), StoreError);
  const Event* refused = log.find("AccessRefused");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(Log::text(*refused, "what"), state);
  EXPECT_EQ(Log::text(*refused, "reason"), "the file has several names (hard links)");
}

TEST(V, a_file_behind_a_link_is_access_refused) {
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  std::filesystem::create_symlink("elsewhere", state + "-owner");
  Log log;
  Scheduler scheduler{{.state = state, .zone = Zone::utc(), .events = log.sink()}};
  EXPECT_THROW(scheduler.initialize({}), StoreError);
  EXPECT_EQ(
      log.names(),
      (std::vector<std::string>{
          "SchedulerInitializationStarted", "AccessRefused", "SchedulerInitializationFailed"}));
  const Event* refused = log.find("AccessRefused");
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->level, Level::warning);
  EXPECT_EQ(Log::text(*refused, "what"), state + "-owner");
  EXPECT_EQ(Log::text(*refused, "reason"), "the file is a symbolic link");
  EXPECT_NE(Log::text(*refused, "who"), "");

  const std::string trace = directory.file("trace");
  std::filesystem::create_symlink("elsewhere", trace);
  Log other;
  EXPECT_THROW(
      Scheduler({.state = state, .zone = Zone::utc(), .events = other.sink(), .trace = trace}),
      TraceError);
  ASSERT_NE(other.find("AccessRefused"), nullptr);
  EXPECT_EQ(Log::text(*other.find("AccessRefused"), "what"), trace);
  EXPECT_FALSE(std::filesystem::exists(directory.file("elsewhere")));
}

TEST(V, a_file_of_another_owner_is_access_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to give a file away";
  const TemporaryDirectory directory;
  const std::string state = directory.file("state.db");
  for (const char* ending : {"", "-owner", "-wal", "-shm", "-journal"}) {
    const std::string file = state + ending;
    std::ofstream{file} << "";
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(chown(file.c_str(), nobody, nobody), 0);
    Log log;
    Scheduler scheduler{{.state = state, .zone = Zone::utc(), .events = log.sink()}};
    EXPECT_THROW(scheduler.initialize({}), StoreError) << file;
    const Event* refused = log.find("AccessRefused");
    ASSERT_NE(refused, nullptr) << file;
    EXPECT_EQ(Log::text(*refused, "what"), file);
    EXPECT_EQ(Log::text(*refused, "reason"), "the file belongs to another user");
    EXPECT_NE(Log::text(*refused, "who"), "");
    std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace dutiful
