// A service with a scheduler in it: a callback that does its work and returns, and one that hands
// its run to another thread and lets it settle there. Ends with SIGINT or SIGTERM.

#include <csignal>
#include <iostream>
#include <thread>

#include <dutiful/dutiful.h>

using namespace std::chrono_literals;

int main() {
  // Signals are for this thread, not for those of the scheduler.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  try {
    dutiful::Scheduler scheduler{{.state = "embed.db", .events = dutiful::json_lines(std::clog)}};
    scheduler.initialize({
        {"greet", "* * * * *", [] { std::cout << "hello\n"
                                              << std::flush; }, 30s},
        {"fetch",
         "0,30 * * * *",
         [](dutiful::Run run) {
           std::thread{[run = std::move(run)]() mutable {
             // What it writes to may keep the key, to see that this was done, and the largest
             // fence, to refuse a writer that comes late.
             std::cout << run.info().key() << ", fence " << run.info().fence << '\n' << std::flush;
             run.succeed();
           }}.detach();
         },
         5min},
    });
    int signal = 0;
    sigwait(&signals, &signal);
    scheduler.stop();
  } catch (const dutiful::Error& error) {
    std::cerr << error.name() << ": " << error.what() << '\n';
    return 1;
  }
}
