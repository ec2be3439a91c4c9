// What crosses the border between a program and the shared library: exceptions, casts and functions.

#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <dutiful/dutiful.h>
#include <dutiful/testing.h>

using namespace std::chrono_literals;

namespace {

const dutiful::Instant start = std::chrono::sys_days{std::chrono::year{2025} / 1 / 1};
int problems = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "not so: " << what << '\n';
  ++problems;
}

class OwnFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string text_of(const dutiful::Event& event, std::string_view field) {
  for (const dutiful::EventField& each : event.fields) {
    if (each.name == field) return std::get<std::string>(each.value);
  }
  return "";
}

void catches_an_error_by_its_class() {
  try {
    (void)dutiful::CronExpression::parse("*/15 * * * *");
    expect(false, "an invalid expression is rejected");
  } catch (const dutiful::InvalidCronExpressionError& error) {
    expect(error.field() == "minute", "the error names the field");
    try {
      std::rethrow_exception(error.cause());
    } catch (const dutiful::FieldParseError& cause) {
      expect(cause.field_value() == "*/15", "the cause is a FieldParseError");
    }
  }
}

void casts_an_error_to_its_class() {
  dutiful::Scheduler scheduler{{.state = "/proc/no/such/state.db"}};
  try {
    scheduler.initialize({});
    expect(false, "a state that cannot be made is an error");
  } catch (const dutiful::Error& error) {
    expect(dynamic_cast<const dutiful::StoreError*>(&error) != nullptr, "it is a StoreError");
    expect(dynamic_cast<const dutiful::TraceError*>(&error) == nullptr, "it is no TraceError");
  }
}

void is_told_what_its_own_exception_says() {
  std::string reason;
  dutiful::VirtualScheduler scheduler{
      start,
      {.zone = dutiful::Zone::utc(), .events = [&](const dutiful::Event& event) {
         if (event.name == "TaskRunFailed") reason = text_of(event, "error");
       }}};
  const std::function<void()> fails = [] { throw OwnFailure{"of the program"}; };
  scheduler.initialize({{"fails", "* * * * *", fails, 1h}});
  scheduler.advance(1min);
  expect(reason.find("of the program") != std::string::npos, "the event has the program's text");
}

void casts_a_clock_back() {
  const std::shared_ptr<dutiful::Clock> clock = std::make_shared<dutiful::ManualClock>(start);
  expect(dynamic_cast<dutiful::ManualClock*>(clock.get()) != nullptr, "it is a ManualClock");
  expect(clock->now() == start, "it shows its time");
}

}  // namespace

int main() {
  expect(std::string{DUTIFUL_VERSION} == dutiful::version(), "the library is that of the headers");
  catches_an_error_by_its_class();
  casts_an_error_to_its_class();
  is_told_what_its_own_exception_says();
  casts_a_clock_back();
  return problems;
}
