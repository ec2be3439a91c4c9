// Commands that run beside the tasks.

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <dutiful/run.h>

#include "commands/commands.h"
#include "commands/commands_in_test.h"
#include "posix/descriptor.h"
#include "support/temporary_directory.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// How a command ended: "ok", or why it failed.
class DUTIFUL_HIDDEN End : public Run::Settler {
 public:
  void settle(Outcome outcome, std::string_view reason) noexcept override {
    const std::lock_guard lock{mutex_};
    text_ = outcome == Outcome::success ? "ok" : std::string{reason};
    changed_.notify_all();
  }
  std::string wait() {
    std::unique_lock lock{mutex_};
    const auto until = std::chrono::system_clock::now() + 60s;
    if (!changed_.wait_until(lock, until, [this] { return !text_.empty(); })) {
      throw std::runtime_error("the command does not end");
    }
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

Run run_for(const std::shared_ptr<End>& end) {
  return Run{run_info_of("task"), end};
}

class BesideCommands : public testing::Test {
 protected:
  explicit BesideCommands(Duration grace = 1min) : kill_grace(grace) { commands.open(); }

  std::shared_ptr<End> start(const std::string& script, Beside beside = {.time_limit = 1h}) {
    auto end = std::make_shared<End>();
    commands.run_beside(run_for(end), {.arguments = {"/bin/sh", "-c", script}}, std::move(beside));
    return end;
  }
  std::string run(const std::string& script, Beside beside = {.time_limit = 1h}) {
    return start(script, std::move(beside))->wait();
  }

  const Duration kill_grace;
  TemporaryDirectory directory;
  std::atomic<int> heard = 0;
  Commands commands{
      {.kill_grace = kill_grace,
       .on_output = [this](const RunInfo& /*run*/, std::string_view /*chunk*/) { ++heard; },
       .on_end = [this](const CommandResult& /*result*/) { ++heard; },
       .on_output_end = [this](const RunInfo& /*run*/) { ++heard; }}};
};

TEST_F(BesideCommands, succeed_or_fail_with_a_reason) {
  EXPECT_EQ(run("true"), "ok");
  EXPECT_EQ(run("echo first; echo no such host; exit 3"), "exit status 3: no such host");
  EXPECT_EQ(run("kill -SEGV $$"), "killed by SIGSEGV");
}

TEST_F(BesideCommands, have_the_variables_of_the_run_and_their_own) {
  EXPECT_EQ(run("test \"$DUTIFUL_TASK $DUTIFUL_KEY $MORE\" = "
                "'task task@1970-01-01T00:00:00.000Z a b'",
                {.variables = {{"MORE", "a b"}}, .time_limit = 1h}),
            "ok");
}

TEST_F(BesideCommands, can_read_their_input_in_any_way_or_not_at_all) {
  const Beside beside{.input = std::string(300'000, 'x') + "\nend\n", .time_limit = 1h};
  EXPECT_EQ(run("test $(wc -c) = 300005", beside), "ok");
  EXPECT_EQ(run("test $(tail -n 1 /dev/stdin) = end", beside), "ok");
  EXPECT_EQ(run("true", beside), "ok");
  EXPECT_EQ(run("exec <&-; true", beside), "ok");
  EXPECT_EQ(run("head -c 1 > /dev/null", beside), "ok");
  EXPECT_EQ(run("test $(wc -c) = 0"), "ok");
}

TEST_F(BesideCommands, that_do_not_end_are_terminated) {
  EXPECT_THAT(run("sleep 1000", {.time_limit = 1ms}),
              StartsWith("time limit exceeded: killed by SIGTERM"));
}

class StubbornCommands : public BesideCommands {
 protected:
  StubbornCommands() : BesideCommands(1ms) {}
};

TEST_F(StubbornCommands, are_killed_with_all_their_children) {
  const std::string fifo = directory.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto end = start("trap '' TERM; exec 3> " + fifo +
                         "; echo up >&3; (while :; do sleep 1; done) & while :; do sleep 1; done");
  const Descriptor pipe{open(fifo.c_str(), O_RDONLY | O_CLOEXEC)};
  std::array<char, 10> text{};
  ASSERT_EQ(read(pipe.get(), text.data(), text.size()), 3);
  commands.end_all();
  EXPECT_EQ(end->wait(), "terminated with the daemon: killed by SIGKILL");
  EXPECT_EQ(read(pipe.get(), text.data(), text.size()), 0);  // nobody holds it any more
}

TEST_F(BesideCommands, that_cannot_be_started_say_why) {
  auto end = std::make_shared<End>();
  commands.run_beside(run_for(end), {.arguments = {"/no/such/program"}}, {.time_limit = 1h});
  EXPECT_EQ(end->wait(), "not started: \"/no/such/program\" or its interpreter does not exist");
}

TEST_F(BesideCommands, are_not_heard_by_the_listeners_of_runs) {
  EXPECT_EQ(run("echo out; (sleep 0.01; echo late) &"), "ok");
  EXPECT_EQ(run("yes | head -c 1000000"), "ok");
  EXPECT_EQ(heard, 0);
}

// Asks, when the command has ended, whether any is left.
class DUTIFUL_HIDDEN Asking : public End {
 public:
  explicit Asking(const Commands& commands) : commands_(commands) {}
  void settle(Outcome outcome, std::string_view reason) noexcept override {
    found_any = commands_.are_any();
    End::settle(outcome, reason);
  }
  bool found_any = true;

 private:
  const Commands& commands_;
};

// Whoever waits for the last run must not find its command still counted.
TEST_F(BesideCommands, are_gone_before_their_runs_are_settled) {
  for (const std::string program : {"/bin/true", "/bin/false", "/no/such/program"}) {
    SCOPED_TRACE(program);
    const auto beside = std::make_shared<Asking>(commands);
    commands.run_beside(run_for(beside), {.arguments = {program}}, {.time_limit = 1h});
    beside->wait();
    EXPECT_FALSE(beside->found_any);

    const auto task = std::make_shared<Asking>(commands);
    commands.callback({.arguments = {program}})(run_for(task));
    task->wait();
    EXPECT_FALSE(task->found_any);
  }
}

TEST_F(BesideCommands, end_when_all_end) {
  const std::string fifo = directory.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto end = start("echo up > " + fifo + "; sleep 1000");
  std::string line;
  std::getline(std::ifstream{fifo}, line);  // it runs, and is done with the pipe
  ASSERT_EQ(line, "up");
  EXPECT_TRUE(commands.are_any());
  commands.end_all();
  EXPECT_THAT(end->wait(), StartsWith("terminated with the daemon: "));
  EXPECT_EQ(run("true"), "not started: the daemon is stopping");
}

}  // namespace
}  // namespace dutiful
