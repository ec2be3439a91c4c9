// The contract of every store (RULES P1, P4, P5, P6).

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "stores/plan_of.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace dutiful {
namespace {

// A kind of store. Opens the same state again and again.
struct Kind {
  std::string name;
  std::function<std::function<std::unique_ptr<Store>()>()> make;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class Stores : public testing::TestWithParam<Kind> {
 protected:
  std::function<std::unique_ptr<Store>()> open = GetParam().make();
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {"memory",
       [] {
         auto state = std::make_shared<MemoryState>();
         return [state] { return std::make_unique<MemoryStore>(state); };
       }},
      {"sqlite",
       [] {
         auto directory = std::make_shared<TemporaryDirectory>();
         return [directory] { return open_sqlite_store(directory->file("state.db")); };
       }},
  };
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, Stores, testing::ValuesIn(kinds()), [](const auto& instance) {
  return instance.param.name;
});

PlannedTask task(const std::string& name, const std::string& cron = "0 0 * * *") {
  return {.config = {.name = name, .cron = cron, .retry_delay = Duration{60'000}},
          .schedule = CronExpression::parse(cron),
          .progress = {.first_coming = at("2025-03-03T10:00:00Z"),
                       .served_until = at("2025-03-03T10:00:00Z")},
          .classification = Classification::added};
}

TEST_P(Stores, are_empty_at_first) {
  EXPECT_EQ(open()->load(), StoredState{});
}

TEST_P(Stores, keep_what_was_replaced) {
  const Plan plan = plan_of({}, task("a"), task("b", "5 * * * *"));
  const auto rows = open()->replace(plan, "first");

  const auto records = open()->load().records;
  ASSERT_EQ(records.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto record = std::ranges::find(records, rows[i], &TaskRecord::row);
    ASSERT_NE(record, records.end());
    EXPECT_EQ(record->config, plan.tasks[i].config);
    EXPECT_EQ(record->progress, plan.tasks[i].progress);
    EXPECT_EQ(record->scheduler, "first");
  }
}

TEST_P(Stores, keep_every_field_of_the_progress) {
  const TaskProgress failed{.state = TaskState::awaiting_retry,
                            .boot_pending = true,
                            .attempt = 4'000'000'000,
                            .retries = 3'999'999'999,
                            .fence = 4'611'686'018'427'387'904,
                            .recurrence = 4'611'686'018'427'387'903,
                            .pulse = at("2025-03-03T10:00:00Z"),
                            .first_coming = at("2025-03-03T10:00:00.001Z"),
                            .served_until = at("2025-03-03T10:00:00.002Z"),
                            .last_attempt = at("2025-03-03T10:00:00.003Z"),
                            .last_success = at("2025-03-03T10:00:00.004Z"),
                            .last_failure = at("2025-03-03T10:00:00.005Z"),
                            .retry_at = at("2025-03-03T10:00:00.006Z"),
                            .recurs_until = at("2025-03-03T10:00:00.007Z")};
  TaskProgress interrupted = failed;
  interrupted.state = TaskState::awaiting_run;
  interrupted.orphan_pending = true;
  interrupted.retry_at = no_instant;
  std::string scheduler;
  for (const TaskProgress& progress : {failed, interrupted}) {
    {
      const auto store = open();
      const auto rows = store->replace(plan_of(store->load().records, task("a")), scheduler += 'x');
      const RowUpdate update{rows[0], progress};
      store->commit({&update, 1});
      store->commit({&update, 1});  // writing the same twice is safe
    }
    EXPECT_EQ(open()->load().records.at(0).progress, progress);
  }
}

TEST_P(Stores, override_and_remove_by_row) {
  const auto rows = open()->replace(plan_of({}, task("a"), task("b")), "first");
  auto records = open()->load().records;
  PlannedTask overridden = task("a", "1 1 * * *");
  overridden.row = rows[0];
  overridden.classification = Classification::overridden;
  std::erase_if(records, [&](const TaskRecord& record) { return record.row != rows[1]; });

  const auto again = open()->replace(plan_of(records, std::move(overridden), task("c")), "second");

  EXPECT_EQ(again[0], rows[0]);
  EXPECT_NE(again[1], rows[0]);
  records = open()->load().records;
  ASSERT_EQ(records.size(), 2);
  std::ranges::sort(records, {}, [](const TaskRecord& record) { return record.config.name; });
  EXPECT_EQ(records[0].config.cron, "1 1 * * *");
  EXPECT_EQ(records[1].config.name, "c");
}

// P8
TEST_P(Stores, keep_the_fence_beyond_the_tasks) {
  Plan plan = plan_of({}, task("a"));
  plan.fence = 5'000'000'000;
  open()->replace(plan, "first");
  EXPECT_EQ(open()->load().fence, 5'000'000'000);

  Plan none = plan_of(open()->load().records);
  none.fence = 5'000'000'001;
  open()->replace(none, "second");
  EXPECT_EQ(open()->load(), (StoredState{.records = {}, .fence = 5'000'000'001}));
}

// V: names are bytes and are read back unchanged.
TEST_P(Stores, keep_names_of_any_bytes) {
  const std::string name("a\0b\xff\n'\"; DROP TABLE task", 24);
  open()->replace(plan_of({}, task(name)), "first");
  EXPECT_EQ(open()->load().records.at(0).config.name, name);
}

// P6
TEST_P(Stores, are_held_by_one_scheduler_at_a_time) {
  auto first = open();
  EXPECT_THROW((void)open(), StateHeldError);
  first.reset();
  EXPECT_NO_THROW((void)open());
}

}  // namespace
}  // namespace dutiful
