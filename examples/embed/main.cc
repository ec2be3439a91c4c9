// A service with a scheduler: one callback does its work and returns, the other passes its run to
// another thread, which settles it. SIGINT or SIGTERM ends the service.

#include <csignal>
#include <iostream>
#include <thread>

#include <dutiful/dutiful.h>

using namespace std::chrono_literals;

int main() {
  // This thread waits for the signals; the threads of the scheduler must not receive them.
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
             // A database could store the key, to recognize work that is done, and the largest
             // fence, to reject a late writer.
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
