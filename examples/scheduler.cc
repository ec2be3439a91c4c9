#include <iostream>

#include <dutiful/dutiful.h>

using namespace std::chrono_literals;

void backup() {}  // a callback fails by throwing; the run is then retried
void report(const dutiful::RunInfo& run) {
  std::cout << run.key() << '\n';
}

int main() {
  dutiful::Scheduler scheduler{{.state = "jobs.db"}};
  scheduler.initialize({
      // name, POSIX cron expression, callback, retry delay
      {"backup", "15 3 * * 1-5", backup, 5min},
      {"report", "0,30 9-17 * * *", report, 30s},
  });
  std::cin.get();  // run until Enter is pressed
  scheduler.stop();
}
