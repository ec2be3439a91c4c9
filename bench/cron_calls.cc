// Runs one operation over the whole set once, for counting instructions with callgrind.
//
//   cron_calls parse|walk|next|previous     prints the number of calls
//
// Collect only measured_calls() and what it calls (--toggle-collect=measured_calls).

#include <iostream>
#include <string_view>

#include <benchmark/benchmark.h>

#include <dutiful/calendar.h>

#include "cron_set.h"

using namespace dutiful;

extern "C" __attribute__((noinline)) std::size_t measured_calls(
    std::string_view operation,
    const std::vector<std::string>& texts,
    const std::vector<CronExpression>& crons,
    const std::vector<Instant>& instants,
    const Calendar& calendar) {
  if (operation == "parse") {
    for (const std::string& text : texts) benchmark::DoNotOptimize(CronExpression::try_parse(text));
    return texts.size();
  }
  for (const CronExpression& cron : crons) {
    for (const Instant instant : instants) {
      const CivilMinute minute{
          std::chrono::floor<std::chrono::minutes>(instant.time_since_epoch())};
      if (operation == "walk")
        benchmark::DoNotOptimize(cron.find_at_or_after(minute + std::chrono::minutes{1}));
      if (operation == "next") benchmark::DoNotOptimize(calendar.find_next(cron, instant));
      if (operation == "previous") benchmark::DoNotOptimize(calendar.find_previous(cron, instant));
    }
  }
  return crons.size() * instants.size();
}

int main(int argc, char** argv) {
  const std::string_view operation = argc == 2 ? argv[1] : "";
  if (operation != "parse" && operation != "walk" && operation != "next" &&
      operation != "previous") {
    std::cerr << "usage: cron_calls parse|walk|next|previous\n";
    return 2;
  }
  const auto texts = bench_expressions(1000);
  const auto instants = bench_instants(100);
  std::vector<CronExpression> crons;
  for (const std::string& text : texts) crons.push_back(CronExpression::parse(text));
  const Calendar calendar{Zone::load(bench_zone)};
  std::cout << measured_calls(operation, texts, crons, instants, calendar) << '\n';
}
