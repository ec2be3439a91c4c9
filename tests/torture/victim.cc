// The process under test: a scheduler with its state and its trace on disk, whose callbacks write
// down what they do.
//
//   victim DIRECTORY BEGIN_MS [full|long]
//
// Prints `ready` when it is initialized, and stops at SIGTERM. With `full`, its files cannot grow
// from then on until a write of its state has failed; then it prints `failed`. With both it prints
// `ran` when many runs have succeeded after that, and does not stop before.

#include <csignal>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <semaphore>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <dutiful/dutiful.h>

#include "torture/fast_clock.h"

namespace {

using namespace std::chrono_literals;

void say(const std::string& word) {
  const std::string line = word + '\n';
  [[maybe_unused]] const ssize_t size = write(STDOUT_FILENO, line.data(), line.size());
}

// Waits without polling. These callbacks only take time.
void take_time(std::chrono::milliseconds time) {
  (void)poll(nullptr, 0, static_cast<int>(time.count()));
}

class Work {
 public:
  explicit Work(const std::string& log)
      : log_(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {}

  void operator()(const dutiful::RunInfo& info) {
    const std::string run = std::to_string(info.fence) + ' ' + info.key();
    write_down("start " + run);
    take_time(std::chrono::milliseconds{roll(12)});
    if (roll(3) == 0) {
      write_down("fail " + run);
      throw std::runtime_error("it was to fail");
    }
    write_down("ok " + run);
  }

 private:
  void write_down(const std::string& what) {
    const std::string line = what + '\n';
    // One write each, so that the lines of several threads do not mix and a kill loses no finished
    // one.
    if (write(log_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  }
  int roll(int sides) {
    const std::lock_guard lock{mutex_};
    return std::uniform_int_distribution<int>{0, sides - 1}(random_);
  }

  int log_;
  std::mutex mutex_;
  std::mt19937 random_{std::random_device{}()};
};

// Limits the size of files to the size of the largest one now.
void limit_files(const std::string& directory) {
  struct stat wal {};
  stat((directory + "/state.db-wal").c_str(), &wal);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = static_cast<rlim_t>(wal.st_size);
  setrlimit(RLIMIT_FSIZE, &limit);
}

void unlimit_files() {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::signal(SIGXFSZ, SIG_IGN);  // the error of the write is enough
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  const std::string directory = argv[1];
  const std::string mode = argc > 3 ? argv[3] : "";
  const bool full = mode == "full";
  // With a full disk the callbacks cannot write either.
  Work work{full ? "/dev/null" : directory + "/log"};
  std::counting_semaphore<> failed{0};
  std::counting_semaphore<> succeeded{0};
  const dutiful::Instant begin{std::chrono::milliseconds{std::stoll(argv[2])}};
  dutiful::Scheduler scheduler{{.state = directory + "/state.db",
                                .max_concurrent = 8,
                                .zone = dutiful::Zone::utc(),
                                .clock = std::make_shared<dutiful::FastClock>(begin),
                                .events =
                                    [&](const dutiful::Event& event) {
                                      if (event.name == "StoreFailed") failed.release();
                                      if (event.name == "TaskRunCompleted") succeeded.release();
                                    },
                                .trace = directory + "/trace.jsonl"}};
  std::vector<dutiful::Registration> list;
  for (int i = 0; i < 24; ++i) {
    const char* cron = i % 3 == 0   ? "* * * * *"
                       : i % 3 == 1 ? "0,7,20,33,50 * * * *"
                                    : "30 * * * *";
    list.push_back({.name = "task " + std::to_string(i),
                    .cron = cron,
                    .callback = [&work](const dutiful::RunInfo& info) { work(info); },
                    .retry_delay = std::chrono::seconds{3 * i}});
  }
  scheduler.initialize(std::move(list));
  say("ready");
  if (full) {
    limit_files(directory);
    failed.acquire();
    say("failed");
    unlimit_files();
  }
  if (!mode.empty()) {
    for (int i = 0; i < 30; ++i) succeeded.acquire();
    say("ran");
  }
  int signal = 0;
  sigwait(&stop, &signal);
  scheduler.stop();
  return 0;
}
