// dutiful as one of the peers in this comparison. Also writes the set that all peers run.
//
//   cron_peer set           prints the set
//   cron_peer answer FILE   answers the set in the file and prints the time of one call
//
// A set is lines of fields separated by tabs. Times are seconds since 1970 in UTC:
//
//   zone        America/New_York
//   expression  30 2 * * *                           each expression is asked about …
//   instant     1710054000                           … each instant; only these are timed
//   case        1710054000  30 2 * * *               one expression at one instant
//
// Every peer reads the set and answers with lines like these:
//
//   answer      1710054000  30 2 * * *  1710138600   or, instead of the time, `!` and the reason
//   parse       96.1                                 nanoseconds of one call, on average
//   next        84.3
//
// An expression that a peer does not answer is left out of its timings, so that the compared calls
// do the same work.

#include <array>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string_view>

#include <benchmark/benchmark.h>

#include <dutiful/calendar.h>

#include "cron_set.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

struct Case {
  std::string expression;
  Instant after;
};

struct Set {
  std::string zone;
  std::vector<std::string> expressions;
  std::vector<Instant> instants;
  std::vector<Case> cases;
};

seconds::rep to_seconds(Instant instant) {
  return std::chrono::floor<seconds>(instant).time_since_epoch().count();
}

// Random instants rarely fall into the hours in which the clocks change, and there the peers
// differ. So a second set covers every transition of a few years, from just before it and from just
// after.
void add_cases_near_transitions(const Zone& zone, std::vector<Case>& cases) {
  constexpr std::array expressions{
      "* * * * *",       // dense: all of the repeated hour, and nothing in the gap
      "30 * * * *",      // every hour
      "30 1 * * *",      // repeated in autumn
      "30 2 * * *",      // skipped in spring
      "0,30 1-3 * * *",  // on both sides of either transition
      "0 3 * * *",       // the minute that ends the gap
      "30 1 1-31 * 0",   // every day, because the range counts as restricted
  };
  constexpr std::array<Duration, 6> distances{-12h, -45min, -1min, 0min, 15min, 75min};
  const Instant end = std::chrono::sys_days{2031y / 1 / 1};
  for (Instant hour = std::chrono::sys_days{2024y / 1 / 1}; hour < end; hour += 1h) {
    if (zone.offset_at(hour) == zone.offset_at(hour - 1h)) continue;
    for (const char* expression : expressions) {
      for (const Duration distance : distances) cases.push_back({expression, hour + distance});
    }
  }
}

// The only month that lacks two or more days: a search that counts past its end skips 1 March.
void add_cases_in_february(std::vector<Case>& cases) {
  for (auto year = 2024y; year <= 2030y; ++year) {
    for (const char* expression : {"0 12 1,31 * *", "0 12 1-2 * 6"}) {
      cases.push_back({expression, std::chrono::sys_days{year / 2 / 25}});
    }
  }
}

void print_set() {
  std::cout << "zone\t" << bench_zone << '\n';
  for (const std::string& text : bench_expressions(1000)) {
    std::cout << "expression\t" << text << '\n';
  }
  for (const Instant instant : bench_instants(100)) {
    std::cout << "instant\t" << to_seconds(instant) << '\n';
  }
  std::vector<Case> cases;
  add_cases_near_transitions(Zone::load(bench_zone), cases);
  add_cases_in_february(cases);
  for (const Case& one : cases) {
    std::cout << "case\t" << to_seconds(one.after) << '\t' << one.expression << '\n';
  }
}

Set read_set(std::istream& input) {
  const auto to_instant = [](const std::string& text) {
    return Instant{seconds{std::stoll(text)}};
  };
  Set set;
  std::string line;
  while (std::getline(input, line)) {
    std::istringstream fields{line};
    std::string kind;
    std::string first;
    std::string second;
    std::getline(fields, kind, '\t');
    std::getline(fields, first, '\t');
    std::getline(fields, second, '\t');
    if (kind == "zone") set.zone = first;
    if (kind == "expression") set.expressions.push_back(first);
    if (kind == "instant") set.instants.push_back(to_instant(first));
    if (kind == "case") set.cases.push_back({second, to_instant(first)});
  }
  return set;
}

// The mean time of one call in nanoseconds, over as many passes of `calls` calls as fill a second.
template <typename Pass>
double mean_of_call(std::size_t calls, Pass pass) {
  using Clock = std::chrono::steady_clock;
  std::size_t passes = 0;
  const auto begin = Clock::now();
  Clock::duration elapsed{};
  do {
    pass();
    ++passes;
    elapsed = Clock::now() - begin;
  } while (elapsed < 1s);
  return std::chrono::duration<double, std::nano>(elapsed).count() /
         static_cast<double>(passes * calls);
}

void print_answer(const Calendar& calendar, const CronExpression& cron, const Case& one) {
  std::cout << "answer\t" << to_seconds(one.after) << '\t' << one.expression << '\t';
  const auto next = calendar.find_next(cron, one.after);
  if (next) {
    std::cout << to_seconds(*next) << '\n';
  } else {
    std::cout << "! never\n";
  }
}

void answer(const Set& set) {
  const Calendar calendar{Zone::load(set.zone)};
  for (const Case& one : set.cases) {
    print_answer(calendar, CronExpression::parse(one.expression), one);
  }
  std::vector<CronExpression> crons;
  for (const std::string& text : set.expressions) {
    crons.push_back(CronExpression::parse(text));
    for (const Instant instant : set.instants)
      print_answer(calendar, crons.back(), {text, instant});
  }

  // Only now, because the answers have warmed up the caches of a peer.
  const double parse = mean_of_call(set.expressions.size(), [&] {
    for (const std::string& text : set.expressions)
      benchmark::DoNotOptimize(CronExpression::parse(text));
  });
  const double next = mean_of_call(crons.size() * set.instants.size(), [&] {
    for (const CronExpression& cron : crons) {
      for (const Instant instant : set.instants)
        benchmark::DoNotOptimize(calendar.find_next(cron, instant));
    }
  });
  std::cout << std::fixed << std::setprecision(1) << "parse\t" << parse << "\nnext\t" << next
            << '\n';
}

}  // namespace
}  // namespace dutiful

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "set" && argc == 2) {
    dutiful::print_set();
    return 0;
  }
  if (command == "answer" && argc == 3) {
    std::ifstream file{argv[2]};
    const dutiful::Set set = dutiful::read_set(file);
    if (!set.expressions.empty()) {
      dutiful::answer(set);
      return 0;
    }
  }
  std::cerr << "usage: cron_peer set | answer FILE\n";
  return 2;
}
