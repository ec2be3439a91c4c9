#include "core/obligations.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/times.h"

namespace dutiful {
namespace {

using namespace std::chrono_literals;

const Instant now = at("2025-03-03T10:00:30Z");

// Every combination of obligations that are pending, or not, for a shorter or a longer time.
template <typename Check>
void for_all(Check check) {
  const std::vector<Instant> choices{no_instant, now - 2min, now - 1min, now};
  for (const Instant orphan : choices) {
    for (const Instant boot : choices) {
      for (const Instant retry : choices) {
        for (const Instant pulse : choices) {
          check(Obligations{.orphan = orphan, .boot = boot, .retry = retry, .pulse = pulse});
        }
      }
    }
  }
}

// K2, K6, case by case.
TEST(Obligations, start_an_orphan_first_then_a_boot_then_the_earlier_of_retry_and_pulse) {
  for_all([](const Obligations& pending) {
    if (!pending.any()) return;
    const Reason reason = pending.reason();
    if (pending.orphan != no_instant) {
      EXPECT_EQ(reason, Reason::orphan);
    } else if (pending.boot != no_instant) {
      EXPECT_EQ(reason, Reason::boot);
    } else if (pending.retry == no_instant) {
      EXPECT_EQ(reason, Reason::cron);
    } else if (pending.pulse == no_instant) {
      EXPECT_EQ(reason, Reason::retry);
    } else {
      EXPECT_EQ(reason, pending.pulse < pending.retry ? Reason::cron : Reason::retry);
    }
    EXPECT_NE(pending.since(reason), no_instant);
  });
}

TEST(Obligations, are_owed_since_the_earliest_of_them) {
  for_all([](const Obligations& pending) {
    Instant earliest = Instant::max();
    for (const Instant since : {pending.orphan, pending.boot, pending.retry, pending.pulse}) {
      if (since != no_instant && since < earliest) earliest = since;
    }
    EXPECT_EQ(pending.earliest(), earliest);
    EXPECT_EQ(pending.any(), earliest != Instant::max());
  });
}

// K2: what the record says is pending.
TEST(Obligations, follow_from_the_progress_of_a_task) {
  TaskProgress progress{.first_coming = now - 3h, .served_until = now, .last_attempt = now - 2h};
  EXPECT_FALSE(obligations_of(progress, no_instant, now).any());

  progress.orphan_pending = true;
  progress.boot_pending = true;
  progress.retry_at = now;
  const Obligations all = obligations_of(progress, now - 1min, now);
  EXPECT_EQ(all.orphan, now - 2h);
  EXPECT_EQ(all.boot, now - 3h);
  EXPECT_EQ(all.retry, now);
  EXPECT_EQ(all.pulse, now - 1min);
}

// K5: to the millisecond.
TEST(Obligations, contain_no_retry_before_its_instant) {
  const TaskProgress progress{.retry_at = now};
  EXPECT_FALSE(obligations_of(progress, no_instant, now - 1ms).any());
  EXPECT_TRUE(obligations_of(progress, no_instant, now).any());
}

}  // namespace
}  // namespace dutiful
