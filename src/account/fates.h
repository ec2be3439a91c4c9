// What becomes of pulses.
#pragma once

#include <cstdint>

namespace dutiful {

// Every pulse has one fate. A task that is owed a run for several pulses runs once for all of them
// (RULES T6). The earliest one is the pulse of that run, unless another start comes first. A later
// one is served with it, and its fate says what kept it from a run of its own.
enum class Fate : std::uint8_t {
  run,      // it has a run of its own
  running,  // the task was still running
  down,     // the scheduler did not run
  asleep,   // it did, but could not act: the machine slept, or the clock was set forward
  limit,    // as many callbacks ran as may run at once (X1)
  store,    // the store failed (X3)
  retry,    // a retry of an earlier run came first (K6)
  orphan,   // the restart of an interrupted run came first (K2)
};

// Numbers of pulses by fate.
struct PulseFates {
  std::int64_t run = 0;
  std::int64_t running = 0;
  std::int64_t down = 0;
  std::int64_t asleep = 0;
  std::int64_t limit = 0;
  std::int64_t store = 0;
  std::int64_t retry = 0;
  std::int64_t orphan = 0;

  // Calls visit(name, number) for each fate. The names are part of the formats.
  static void for_each(auto& fates, auto visit) {
    visit("run", fates.run);
    visit("running", fates.running);
    visit("down", fates.down);
    visit("asleep", fates.asleep);
    visit("limit", fates.limit);
    visit("store", fates.store);
    visit("retry", fates.retry);
    visit("orphan", fates.orphan);
  }

  [[nodiscard]] constexpr std::int64_t& of(Fate fate) {
    switch (fate) {
      case Fate::run:
        break;
      case Fate::running:
        return running;
      case Fate::down:
        return down;
      case Fate::asleep:
        return asleep;
      case Fate::limit:
        return limit;
      case Fate::store:
        return store;
      case Fate::retry:
        return retry;
      case Fate::orphan:
        return orphan;
    }
    return run;
  }

  [[nodiscard]] constexpr std::int64_t total() const {
    return run + running + down + asleep + limit + store + retry + orphan;
  }

  constexpr PulseFates& operator+=(const PulseFates& other) {
    run += other.run;
    running += other.running;
    down += other.down;
    asleep += other.asleep;
    limit += other.limit;
    store += other.store;
    retry += other.retry;
    orphan += other.orphan;
    return *this;
  }

  friend bool operator==(const PulseFates&, const PulseFates&) = default;
};

}  // namespace dutiful
