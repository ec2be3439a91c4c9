#include <iostream>

#include <dutiful/calendar.h>

using namespace dutiful;

int main() {
  const auto weekdays = CronExpression::parse("15 3 * * 1-5");  // throws if the text is invalid
  const Calendar calendar{Zone::host()};
  const Instant now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const Instant next = calendar.next(weekdays, now);
  std::cout << "in " << std::chrono::ceil<std::chrono::minutes>(next - now).count() << " minutes\n";
}
