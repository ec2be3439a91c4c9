// dutiful account, with a daemon that is killed and started again.

#include "commands/run_in_test.h"
#include "store/sqlite/database.h"

namespace dutiful {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DutifulAccount : public DutifulRun {
 protected:
  [[nodiscard]] nlohmann::json account(const std::string& task) const {
    const Ended ended = run_to_end({"account", task, "--json", "--state", state});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return nlohmann::json::parse(ended.out).at(0);
  }
  static void expect_sum(const nlohmann::json& account) {
    std::int64_t sum = 0;
    for (const char* part : {"run",
                             "running",
                             "down",
                             "asleep",
                             "limit",
                             "store",
                             "retry",
                             "orphan",
                             "owed",
                             "unknown"}) {
      sum += account.at(part).get<std::int64_t>();
    }
    EXPECT_EQ(sum - account.at("recurred").get<std::int64_t>(), account.at("pulses")) << account;
  }
  // As if the daemon had been killed two hours earlier.
  void let_two_hours_pass() const {
    Database database{state};
    for (const char* column : {"pulse",
                               "first_coming",
                               "served_until",
                               "last_attempt",
                               "last_success",
                               "last_failure",
                               "pending_retry_until",
                               "account_from"}) {
      const std::string name = column;
      database.execute(("UPDATE progress SET " + name + " = " + name + " - 7200000").c_str());
    }
    database.execute("UPDATE account SET begins = begins - 7200000, ends = ends - 7200000");
  }
};

TEST_F(DutifulAccount, says_which_pulses_came_while_the_daemon_was_down) {
  const Fifo up = fifo("up");
  const Fifo go = fifo("go");
  const std::string mark = directory.file("mark");
  // Only its first run waits.
  write(task("quick", "true") + task("slow",
                                     "test -e " + mark + " || { : > " + mark + "; echo > " +
                                         up.path() + "; read line < " + go.path() + "; }"));
  std::optional<Process> daemon{std::in_place, arguments()};
  daemon->await("TaskRunCompleted", "quick");
  (void)up.read_text();
  nlohmann::json quick = account("quick");  // while a daemon holds the state
  EXPECT_GE(quick["run"], 1);
  expect_sum(quick);
  daemon->signal(SIGKILL);
  EXPECT_EQ(daemon->end().status, 128 + SIGKILL);
  let_two_hours_pass();
  quick = account("quick");
  EXPECT_GE(quick["owed"], 120);
  expect_sum(quick);

  daemon.emplace(arguments());
  const auto started = daemon->await("TaskRunStarted", "slow");
  EXPECT_EQ(started["reason"], "orphan");
  daemon->await("TaskRunCompleted", "slow");
  const nlohmann::json slow = account("slow");
  EXPECT_EQ(slow["orphan"], 1);
  EXPECT_GE(slow["down"], 118);
  expect_sum(slow);
  expect_sum(account("quick"));
  daemon->signal(SIGTERM);
  EXPECT_EQ(daemon->end().status, 0);
  quick = account("quick");  // by now its start is recorded too
  EXPECT_GE(quick["run"], 2);
  EXPECT_GE(quick["down"], 118);
  expect_sum(quick);
  EXPECT_THAT(run_to_end({"account", "quick", "--state", state}).out,
              AllOf(HasSubstr("quick, every minute, since "),
                    HasSubstr(" served by a later run: "),
                    HasSubstr(" because the daemon was down")));
}

}  // namespace
}  // namespace dutiful
