// Tests a schedule in virtual time: a year takes a moment.

#include <iostream>

#include <dutiful/testing.h>

using namespace std::chrono_literals;

int main() {
  using dutiful::Instant;
  const Instant new_year = std::chrono::sys_days{std::chrono::year{2025} / 1 / 1};
  dutiful::VirtualScheduler scheduler{new_year, {.zone = dutiful::Zone::utc()}};

  int reports = 0;
  int failures = 2;
  scheduler.initialize({
      {"report", "0 8 * * 1", [&] { ++reports; }, 5min},
      {"flaky",
       "0 0 1 6 *",
       [&] {
         if (failures-- > 0) throw std::runtime_error("not yet");
       },
       10min},
  });
  scheduler.advance(std::chrono::days{365});

  // Each of two failures was retried ten minutes later.
  const dutiful::SchedulerStatus status = scheduler.status();
  const dutiful::TaskStatus& flaky = *status.find("flaky");
  const Instant first_of_june = std::chrono::sys_days{std::chrono::year{2025} / 6 / 1};

  std::cout << reports << " reports, " << flaky.attempt << " attempts at " << flaky.name << " ("
            << flaky.english() << ")\n";
  return reports == 52 && flaky.attempt == 3 && flaky.last_success == first_of_june + 20min ? 0 : 1;
}
