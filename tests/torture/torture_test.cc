// A real process with its state on a real disk, killed at any instant. Its whole trace is judged.

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_directory.h"
#include "theory/monitor.h"
#include "trace/lines.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

// A process of tests/torture/victim.cc.
class Victim {
 public:
  Victim(const std::string& directory, Instant begin, const char* mode = nullptr) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    out_ = ends[0];
    const std::string milliseconds = std::to_string(begin.time_since_epoch().count());
    const char* arguments[] = {
        DUTIFUL_VICTIM, directory.c_str(), milliseconds.c_str(), mode, nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    const int error = posix_spawn(
        &process_, DUTIFUL_VICTIM, &actions, nullptr, const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) throw std::runtime_error("no victim");
  }
  ~Victim() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(out_);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Waits until it has printed this or is dead.
  bool prints(const std::string& word) {
    char c = 0;
    if (said_.contains(word)) return true;
    for (std::string line; read(out_, &c, 1) == 1;) {
      if (c != '\n') {
        line += c;
        continue;
      }
      said_.insert(line);
      if (line == word) return true;
      line.clear();
    }
    return said_.contains(word);
  }
  void suffer(std::chrono::microseconds time) {
    const timespec wait{0, std::chrono::nanoseconds{time}.count()};
    (void)ppoll(nullptr, 0, &wait, nullptr);
  }
  void signal(int signal) const { kill(process_, signal); }
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    prints("nothing more");  // waits for its end
    return status;
  }
  [[nodiscard]] bool has_said(const std::string& word) const { return said_.contains(word); }

 private:
  pid_t process_ = 0;
  int out_ = -1;
  std::set<std::string> said_;
};

struct Judged {
  std::vector<std::string> violations;
  std::size_t crashes = 0;
  std::size_t freezes = 0;
  std::map<std::string, int> successes;    // by task
  std::map<std::string, int> interrupted;  // by task: runs interrupted by a crash
  bool open = false;
};

Judged judge(const std::string& file) {
  std::ifstream in{file};
  TraceReader reader{in};
  Judged judged;
  // Two hours of its clock are 24 s of real time on a busy machine.
  theory::Monitor monitor{{.zone = Zone::utc(),
                           .max_concurrent = reader.header().max_concurrent,
                           .witnesses = {.lag = 2h}},
                          [&judged](const theory::Violation& violation) {
                            judged.violations.push_back(violation.text());
                          }};
  std::set<std::string> running;
  for (TracedEvent event; reader.read(event);) {
    monitor.on(reader.line(), event.at, event.event);
    if (const auto* start = std::get_if<RunStart>(&event.event)) running.insert(start->task);
    if (const auto* success = std::get_if<RunSuccess>(&event.event)) {
      running.erase(success->task);
      ++judged.successes[success->task];
    }
    if (const auto* failure = std::get_if<RunFailure>(&event.event)) running.erase(failure->task);
    if (std::holds_alternative<Freeze>(event.event)) ++judged.freezes;
    if (std::holds_alternative<Crash>(event.event)) {
      ++judged.crashes;
      for (const std::string& task : running) ++judged.interrupted[task];
      running.clear();
    }
  }
  judged.open = !monitor.open().empty();
  return judged;
}

// The number of runs that the callbacks wrote down.
std::size_t runs_in(const std::string& file) {
  std::ifstream log{file};
  std::size_t runs = 0;
  for (std::string line; std::getline(log, line);) runs += line.starts_with("start ") ? 1 : 0;
  return runs;
}

class Torture : public testing::Test {
 protected:
  TemporaryDirectory directory;
  std::string place = directory.file("");
  Instant begin = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  std::mt19937 random{20250303};

  std::chrono::microseconds up_to(std::chrono::microseconds most) {
    return std::chrono::microseconds{
        std::uniform_int_distribution<std::int64_t>{0, most.count()}(random)};
  }
  bool one_in(int n) { return std::uniform_int_distribution<int>{1, n}(random) == 1; }

  void stop(Victim& victim) {
    victim.signal(SIGTERM);
    EXPECT_EQ(victim.wait(), 0);
  }
};

// P1, P5, P8, K2: whenever it is killed, nothing is lost, and nothing is done twice except in P8's
// window.
TEST_F(Torture, survives_being_killed_again_and_again) {
  const int rounds = std::getenv("DUTIFUL_TEST_ALL") != nullptr ? 500 : 60;
  for (int round = 0; round < rounds; ++round) {
    Victim victim{place, begin};
    // Sometimes before it is initialized.
    if (!one_in(5)) {
      ASSERT_TRUE(victim.prints("ready"));
    }
    victim.suffer(up_to(120ms));
    if (one_in(4)) {
      victim.signal(SIGSTOP);
      victim.suffer(up_to(60ms));
      victim.signal(SIGCONT);
      victim.suffer(up_to(20ms));
    }
    if (one_in(8)) {
      ASSERT_TRUE(victim.prints("ready"));
      stop(victim);
    } else {
      victim.signal(SIGKILL);
      victim.wait();
    }
  }
  const std::size_t runs_of_the_killed = runs_in(directory.file("log"));
  Victim last{place, begin, "long"};
  ASSERT_TRUE(last.prints("ran"));
  stop(last);

  const Judged judged = judge(directory.file("trace.jsonl"));
  EXPECT_EQ(judged.violations, std::vector<std::string>{});
  EXPECT_FALSE(judged.open);
  EXPECT_GT(judged.crashes, static_cast<std::size_t>(rounds) / 3);

  // By what the callbacks wrote down: the fences of a task grow; a key does not return after
  // another one; and a success that is not in the trace belongs to a run that a crash interrupted
  // before its end was recorded.
  std::ifstream log{directory.file("log")};
  std::size_t runs = 0;
  std::map<std::string, std::uint64_t> fences;           // the newest of each task
  std::map<std::string, std::vector<std::string>> keys;  // of each task
  std::map<std::string, int> done;
  std::uint64_t fence = 0;
  for (std::string what, key; log >> what >> fence && std::getline(log >> std::ws, key);) {
    const std::string task = key.substr(0, key.find('@'));
    if (what == "start") {
      ++runs;
      EXPECT_GT(fence, fences[task]) << key;
      fences[task] = fence;
      auto& before = keys[task];
      if (before.empty() || before.back() != key) {
        EXPECT_EQ(std::ranges::find(before, key), before.end()) << key << " came back";
        before.push_back(key);
      }
    }
    if (what == "ok") ++done[task];
  }
  EXPECT_GT(runs_of_the_killed, static_cast<std::size_t>(rounds) / 3);
  EXPECT_GE(runs, runs_of_the_killed + 30);  // of the last process alone
  int repeated = 0;
  for (const auto& [task, count] : done) {
    auto& traced = judged.successes;
    const int recorded = traced.contains(task) ? traced.at(task) : 0;
    const int interrupted = judged.interrupted.contains(task) ? judged.interrupted.at(task) : 0;
    EXPECT_GE(count, recorded) << task;
    EXPECT_LE(count, recorded + interrupted) << task;
    repeated += count - recorded;
  }
  std::cout << rounds << " rounds, " << judged.crashes << " crashes, " << judged.freezes
            << " freezes, " << runs << " runs, " << runs_of_the_killed << " of them of the killed, "
            << repeated << " in the window of P8\n";
}

// X3: a full disk is an error event, and the write is retried.
TEST_F(Torture, survives_a_full_disk) {
  Victim victim{place, begin, "full"};
  ASSERT_TRUE(victim.prints("ready"));
  ASSERT_TRUE(victim.prints("failed"));
  ASSERT_TRUE(victim.prints("ran"));
  stop(victim);
  const Judged judged = judge(directory.file("trace.jsonl"));
  EXPECT_EQ(judged.violations, std::vector<std::string>{});
  EXPECT_FALSE(judged.open);
  // The victim has seen 30 successes. Which tasks they are of is random.
  int successes = 0;
  for (const auto& [task, count] : judged.successes) successes += count;
  EXPECT_GE(successes, 30);
}

}  // namespace
}  // namespace dutiful
