// parse, matches, next, previous and count over one set of expressions and instants.
//
// Each figure is the mean of one call. `walk` is the search in civil time without a zone; `next`
// and `previous` go from instant to instant; `count` covers the time after the instant.

#include <benchmark/benchmark.h>

#include <dutiful/calendar.h>

#include "cron_set.h"
#include "support/allocations.h"

namespace dutiful {
namespace {

struct Set {
  std::vector<std::string> texts = bench_expressions(1000);
  std::vector<Instant> instants = bench_instants(100);
  std::vector<CronExpression> crons;
  std::vector<CivilMinute> minutes;
  Calendar calendar{Zone::load(bench_zone)};
  Calendar first_only{Zone::load(bench_zone), RepeatedMinutes::first_only};

  Set() {
    for (const std::string& text : texts) crons.push_back(CronExpression::parse(text));
    for (const Instant instant : instants) {
      minutes.push_back(
          CivilMinute{std::chrono::floor<std::chrono::minutes>(instant.time_since_epoch())});
    }
  }
};

const Set& set() {
  static const Set instance;
  return instance;
}

// Calls `call` for every expression and time in turn, and reports the mean of one call.
template <typename Cron, typename Time, typename Call>
void measure(benchmark::State& state,
             const std::vector<Cron>& crons,
             const std::vector<Time>& times,
             Call call) {
  const std::uint64_t before = allocations();
  for (auto _ : state) {
    for (const Cron& cron : crons) {
      for (const Time time : times) benchmark::DoNotOptimize(call(cron, time));
    }
  }
  const auto calls =
      static_cast<double>(state.iterations()) * static_cast<double>(crons.size() * times.size());
  state.counters["allocations"] = static_cast<double>(allocations() - before) / calls;
  state.counters["per_call"] =
      benchmark::Counter(calls, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void parse(benchmark::State& state) {
  measure(state, set().texts, std::vector<int>{0}, [](const std::string& text, int) {
    return CronExpression::try_parse(text);
  });
}
void matches(benchmark::State& state) {
  measure(state, set().crons, set().minutes, [](const CronExpression& cron, CivilMinute minute) {
    return cron.matches(minute);
  });
}
void walk(benchmark::State& state) {
  measure(state, set().crons, set().minutes, [](const CronExpression& cron, CivilMinute minute) {
    return cron.find_at_or_after(minute + std::chrono::minutes{1});
  });
}
void walk_previous(benchmark::State& state) {
  measure(state, set().crons, set().minutes, [](const CronExpression& cron, CivilMinute minute) {
    return cron.find_at_or_before(minute);
  });
}
void next(benchmark::State& state) {
  measure(state, set().crons, set().instants, [](const CronExpression& cron, Instant instant) {
    return set().calendar.find_next(cron, instant);
  });
}
void next_first_only(benchmark::State& state) {
  measure(state, set().crons, set().instants, [](const CronExpression& cron, Instant instant) {
    return set().first_only.find_next(cron, instant);
  });
}
void previous(benchmark::State& state) {
  measure(state, set().crons, set().instants, [](const CronExpression& cron, Instant instant) {
    return set().calendar.find_previous(cron, instant);
  });
}
void next_sparse(benchmark::State& state) {  // 29 February at midnight
  const std::vector<CronExpression> sparse{CronExpression::parse("0 0 29 2 *")};
  measure(state, sparse, set().instants, [](const CronExpression& cron, Instant instant) {
    return set().calendar.find_next(cron, instant);
  });
}
void next_dense(benchmark::State& state) {  // every minute
  const std::vector<CronExpression> dense{CronExpression::parse("* * * * *")};
  measure(state, dense, set().instants, [](const CronExpression& cron, Instant instant) {
    return set().calendar.find_next(cron, instant);
  });
}
void count(benchmark::State& state, std::chrono::days length) {
  measure(state, set().crons, set().instants, [&](const CronExpression& cron, Instant instant) {
    return set().calendar.count(cron, instant, instant + length);
  });
}
void count_dense(benchmark::State& state, std::chrono::days length) {
  const std::vector<CronExpression> dense{CronExpression::parse("* * * * *")};
  measure(state, dense, set().instants, [&](const CronExpression& cron, Instant instant) {
    return set().calendar.count(cron, instant, instant + length);
  });
}

BENCHMARK(parse);
BENCHMARK(matches);
BENCHMARK(walk);
BENCHMARK(walk_previous);
BENCHMARK(next);
BENCHMARK(next_first_only);
BENCHMARK(previous);
BENCHMARK(next_dense);
BENCHMARK(next_sparse);
BENCHMARK_CAPTURE(count, day, std::chrono::days{1});
BENCHMARK_CAPTURE(count, year, std::chrono::days{365});
BENCHMARK_CAPTURE(count, century, std::chrono::days{36525});
BENCHMARK_CAPTURE(count_dense, day, std::chrono::days{1});
BENCHMARK_CAPTURE(count_dense, year, std::chrono::days{365});
BENCHMARK_CAPTURE(count_dense, century, std::chrono::days{36525});

}  // namespace
}  // namespace dutiful

BENCHMARK_MAIN();
