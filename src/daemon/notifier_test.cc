#include "daemon/notifier.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Started {
  Run run;
  Command command;
  Beside beside;

  [[nodiscard]] const std::string& variable(const std::string& name) const {
    return beside.variables.at(name);
  }
};

// Notifications whose commands are started by the test, on its thread.
class Notify : public testing::Test {
 protected:
  static TaskDefinition task(const std::string& name, Notifications notifications) {
    return {.name = name,
            .cron = "* * * * *",
            .command = {.arguments = {"work"}, .directory = "/srv", .environment = {{"A", "1"}}},
            .notifications = std::move(notifications)};
  }
  void load(const std::vector<TaskDefinition>& tasks) {
    UserAccounts accounts;
    notifier->replace(tasks, accounts);
  }
  void end(const std::string& task, int status, const std::string& output = "") {
    notifier->add({.run = {.task = task,
                           .reason = Reason::retry,
                           .pulse = Instant{},
                           .attempt = 2,
                           .fence = 1,
                           .started = Instant{}},
                   .duration = Duration{1500},
                   .exit_status = status,
                   .output = output});
  }
  // The keys of the notifications that were started since the last call; all succeed.
  std::vector<std::string> keys() {
    std::vector<std::string> out;
    while (!started.empty()) {
      Started first = std::move(started.front());
      started.erase(started.begin());
      out.push_back(first.variable("DUTIFUL_NOTIFICATION"));
      first.run.succeed();
    }
    return out;
  }
  std::int64_t dropped() const {
    std::int64_t count = 0;
    for (const event::Any& event : events) {
      if (const auto* one = std::get_if<event::NotificationsDropped>(&event)) count += one->count;
    }
    return count;
  }
  bool rings() {
    pollfd waiting{.fd = notifier->idle_bell().descriptor(), .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, 0) > 0;
  }
  void begin() {
    notifier.reset();
    counts.emplace(FailureCounts::Options{.state = directory.file("tasks.db"),
                                          .on_failure = [](const auto&, auto) {}});
    counts->load();
    notifier.emplace(Notifier::Options{
        .start =
            [this](dutiful::Run run, Command command, Beside beside, const auto& /*account*/) {
              if (fails_to_start) throw std::bad_alloc();
              started.push_back({std::move(run), std::move(command), std::move(beside)});
            },
        .report = [this](event::Any event) { events.push_back(std::move(event)); },
        .counts = &*counts,
        .running_max = 2,
        .waiting_max = 3,
        .waiting_bytes_max = 100'000});
  }
  Notify() { begin(); }
  ~Notify() override { notifier->close(); }

  const Notifications all{
      .on_failure = {"mail", "bad"}, .on_recovery = {"mail", "good"}, .on_success = {"date"}};
  TemporaryDirectory directory;
  std::vector<event::Any> events;
  bool fails_to_start = false;
  std::optional<FailureCounts> counts;
  std::optional<Notifier> notifier;
  std::vector<Started> started;  // destroyed first: it ends them
};

// The directory may be what is missing.
TEST_F(Notify, does_not_need_the_directory_of_a_run_that_was_not_started) {
  load({task("a", all)});
  end("a", 1);
  EXPECT_EQ(started.at(0).command.directory, "/srv");
  notifier->add({.run = {.task = "a",
                         .reason = Reason::cron,
                         .pulse = Instant{},
                         .attempt = 1,
                         .fence = 2,
                         .started = Instant{}},
                 .spawn_error = "cannot enter the directory"});
  EXPECT_EQ(started.at(1).command.directory, "/");
}

TEST_F(Notify, runs_the_command_of_what_happened) {
  load({task("a", all)});
  end("a", 0);
  EXPECT_THAT(keys(), ElementsAre("on_success"));
  end("a", 1);
  EXPECT_THAT(keys(), ElementsAre("on_failure"));
  end("a", 1);
  EXPECT_THAT(keys(), ElementsAre("on_failure"));
  end("a", 0);
  EXPECT_THAT(keys(), ElementsAre("on_recovery", "on_success"));
  end("a", 0);
  EXPECT_THAT(keys(), ElementsAre("on_success"));
  end("another", 1);
  EXPECT_THAT(keys(), IsEmpty());
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(Notify, passes_on_what_is_known_about_the_run) {
  load({task("a", all)});
  end("a", 3, "first\nno \"such\" host\x1b\\\n");
  ASSERT_EQ(started.size(), 1U);
  const Started& one = started[0];
  EXPECT_THAT(one.command.arguments, ElementsAre("mail", "bad"));
  EXPECT_EQ(one.command.directory, "/srv");
  EXPECT_EQ(one.command.environment.at("A"), "1");
  EXPECT_EQ(one.run.info().task, "a");
  EXPECT_EQ(one.run.info().attempt, 2U);
  EXPECT_EQ(one.variable("DUTIFUL_RESULT"), "failed");
  EXPECT_EQ(one.variable("DUTIFUL_ERROR"), "exit status 3: no \"such\" host\\x1b\\");
  EXPECT_EQ(one.variable("DUTIFUL_DURATION_MS"), "1500");
  EXPECT_EQ(one.variable("DUTIFUL_FAILURES"), "1");
  EXPECT_EQ(one.beside.input, "first\nno \"such\" host\x1b\\\n");
  EXPECT_EQ(one.beside.time_limit, std::chrono::minutes{1});
  keys();
  end("a", 0);
  ASSERT_EQ(started.size(), 2U);
  EXPECT_EQ(started[0].variable("DUTIFUL_RESULT"), "succeeded");
  EXPECT_EQ(started[0].variable("DUTIFUL_ERROR"), "");
  EXPECT_EQ(started[0].variable("DUTIFUL_FAILURES"), "1");
}

TEST_F(Notify, runs_on_failure_once_after_some_failures_and_on_recovery_only_then) {
  Notifications after = all;
  after.on_success.clear();
  after.after = 2;
  load({task("a", after)});
  end("a", 1);
  end("a", 0);
  EXPECT_THAT(keys(), IsEmpty());
  for (int i = 0; i < 4; ++i) end("a", 1);
  EXPECT_THAT(keys(), ElementsAre("on_failure"));
  end("a", 0);
  EXPECT_THAT(keys(), ElementsAre("on_recovery"));
}

TEST_F(Notify, keeps_the_count_across_restarts_and_reloads) {
  Notifications after = all;
  after.after = 3;
  load({task("a", after)});
  end("a", 1);
  begin();
  load({task("a", after)});
  end("a", 1);
  begin();
  load({task("a", after), task("b", all)});
  EXPECT_THAT(keys(), IsEmpty());
  end("a", 1);
  EXPECT_THAT(keys(), ElementsAre("on_failure"));
}

TEST_F(Notify, forgets_the_count_of_a_removed_task) {
  Notifications after = all;
  after.after = 2;
  load({task("a", after)});
  end("a", 1);
  load({});
  load({task("a", after)});
  end("a", 1);
  EXPECT_THAT(keys(), IsEmpty());
  end("a", 1);
  EXPECT_THAT(keys(), ElementsAre("on_failure"));
}

TEST_F(Notify, ignores_runs_that_the_daemon_ended) {
  load({task("a", all)});
  CommandResult result;
  result.run.task = "a";
  result.signal = 15;
  result.forced = true;
  notifier->add(result);
  EXPECT_THAT(keys(), IsEmpty());
  end("a", 0);
  EXPECT_THAT(keys(), ElementsAre("on_success"));  // and no recovery
}

TEST_F(Notify, runs_a_few_at_once_and_reports_what_is_dropped) {
  load({task("a", {.on_failure = {"mail"}})});
  for (int i = 0; i < 10; ++i) end("a", 1);
  EXPECT_EQ(started.size(), 2U);  // and three wait
  EXPECT_FALSE(rings());
  EXPECT_EQ(dropped(), 1);  // the first is reported at once
  EXPECT_EQ(keys().size(), 5U);
  EXPECT_EQ(dropped(), 5);
  EXPECT_EQ(events.size(), 2U);
  EXPECT_TRUE(rings());
  EXPECT_TRUE(notifier->is_idle());
}

TEST_F(Notify, lets_no_more_output_wait_than_it_has_room_for) {
  load({task("a", {.on_failure = {"mail"}})});
  for (int i = 0; i < 4; ++i) end("a", 1, std::string(60'000, 'x'));
  EXPECT_EQ(started.size(), 2U);
  EXPECT_EQ(dropped(), 1);
}

TEST_F(Notify, passes_on_the_end_of_a_long_output) {
  load({task("a", {.on_failure = {"mail"}})});
  end("a", 1, std::string(200'000, 'x') + "end");
  ASSERT_EQ(started.size(), 1U);
  EXPECT_EQ(started[0].beside.input, std::string(64UL * 1024 - 3, 'x') + "end");
  EXPECT_EQ(dropped(), 0);
}

TEST_F(Notify, reports_a_notification_that_fails) {
  load({task("a", all)});
  end("a", 1);
  started[0].run.fail("exit status 2");
  ASSERT_EQ(events.size(), 1U);
  const auto& failed = std::get<event::NotificationFailed>(events[0]);
  EXPECT_EQ(failed.task, "a");
  EXPECT_EQ(failed.notification, "on_failure");
  EXPECT_EQ(failed.error, "exit status 2");
  EXPECT_TRUE(notifier->is_idle());
}

TEST_F(Notify, survives_a_start_without_memory) {
  load({task("a", all)});
  fails_to_start = true;
  for (int i = 0; i < 5; ++i) end("a", 1);
  EXPECT_EQ(events.size(), 5U);
  EXPECT_TRUE(notifier->is_idle());
  fails_to_start = false;
  end("a", 1);
  EXPECT_THAT(keys(), ElementsAre("on_failure"));
}

TEST_F(Notify, drops_what_waits_when_it_is_closed) {
  load({task("a", all)});
  for (int i = 0; i < 4; ++i) end("a", 1);
  notifier->close();
  EXPECT_EQ(dropped(), 2);
  EXPECT_FALSE(notifier->is_idle());
  EXPECT_THAT(keys(), ElementsAre("on_failure", "on_failure"));
  EXPECT_TRUE(rings());
  end("a", 1);
  EXPECT_THAT(keys(), IsEmpty());
}

}  // namespace
}  // namespace dutiful
