#include "faults/promises.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dutiful::faults {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr long long minute = 1'740'996'000'000;

Instant instant(long long milliseconds) {
  return Instant{Duration{milliseconds}};
}

// The records of a list whose tasks have not run.
std::vector<TaskRecord> records_of(const std::string& list) {
  std::vector<TaskRecord> records;
  for (const Listed& task : lists().at(list)) {
    records.push_back(
        {.config = {task.name, task.cron, task.retry_delay}, .progress = {}, .scheduler = {}});
  }
  return records;
}

TaskProgress& progress_of(std::vector<TaskRecord>& records, const std::string& task) {
  for (TaskRecord& record : records) {
    if (record.config.name == task) return record.progress;
  }
  throw std::runtime_error("no " + task);
}

std::string started(const std::string& task, const std::string& reason, int attempt = 1) {
  return "started " + task + ' ' + reason + ' ' + std::to_string(attempt) + ' ' +
         std::to_string(minute) + ' ' + std::to_string(minute);
}

TaskProgress begun(TaskState state = TaskState::running) {
  return {.state = state, .attempt = 1, .pulse = instant(minute), .last_attempt = instant(minute)};
}
TaskProgress succeeded() {
  TaskProgress progress = begun(TaskState::awaiting_run);
  progress.last_success = instant(minute);
  return progress;
}
TaskProgress failed() {
  TaskProgress progress = begun(TaskState::awaiting_retry);
  progress.last_failure = instant(minute);
  return progress;
}
TaskProgress interrupted() {
  TaskProgress progress = begun(TaskState::awaiting_run);
  progress.orphan_pending = true;
  return progress;
}

Complaints complaints_of(const std::vector<Words>& lives, const std::vector<TaskRecord>& records) {
  Promises promises;
  for (const Words& words : lives) promises.read(words);
  return promises.broken_by(records);
}

TEST(Promises, are_kept_by_a_list_that_was_initialized) {
  const Words words{"initializing X", "initialized X"};
  EXPECT_THAT(complaints_of({words}, records_of("X")), IsEmpty());
  EXPECT_THAT(complaints_of({words}, {}), ElementsAre(HasSubstr("should have X")));
  EXPECT_THAT(complaints_of({words}, records_of("Y")), ElementsAre(HasSubstr("should have X")));
}

TEST(Promises, are_not_made_by_a_list_without_an_answer) {
  const Words words{"initializing X", "initialized X", "initializing Y"};
  EXPECT_THAT(complaints_of({words}, records_of("X")), IsEmpty());
  EXPECT_THAT(complaints_of({words}, records_of("Y")), IsEmpty());
  EXPECT_THAT(complaints_of({words}, {}), ElementsAre(HasSubstr("should have X or Y")));
}

TEST(Promises, are_broken_by_a_part_of_a_list) {
  auto records = records_of("X");
  records.pop_back();
  EXPECT_THAT(complaints_of({{"initializing X"}}, records), ElementsAre(HasSubstr("the list ?")));
}

TEST(Promises, are_broken_by_a_rejected_list) {
  EXPECT_THAT(complaints_of({{"initializing X", "refused X certain disk"}}, {}), IsEmpty());
  EXPECT_THAT(complaints_of({{"initializing X", "refused X certain disk"}}, records_of("X")),
              ElementsAre(HasSubstr("should have no list")));
  EXPECT_THAT(complaints_of({{"initializing X", "refused X in-doubt disk"}}, records_of("X")),
              IsEmpty());
}

TEST(Promises, of_a_list_are_made_by_its_first_run) {
  EXPECT_THAT(complaints_of({{"initializing X", started("steady", "boot")}}, {}),
              ElementsAre(HasSubstr("should have X")));
}

TEST(Promises, of_a_run_that_has_begun_are_kept_while_it_runs) {
  const Words words{"initializing X", "initialized X", started("steady", "boot")};
  auto records = records_of("X");
  EXPECT_THAT(complaints_of({words}, records), ElementsAre(HasSubstr("is lost")));
  progress_of(records, "steady") = begun();
  EXPECT_THAT(complaints_of({words}, records), IsEmpty());
  progress_of(records, "steady") = succeeded();
  EXPECT_THAT(complaints_of({words}, records), ElementsAre(HasSubstr("its callback has not")));
  progress_of(records, "steady") = interrupted();
  EXPECT_THAT(complaints_of({words}, records), ElementsAre(HasSubstr("no later life has begun")));
  EXPECT_THAT(complaints_of({words, {"initializing X"}}, records), IsEmpty());
}

TEST(Promises, of_a_run_that_returned_are_kept_with_or_without_its_end) {
  const Words words{
      "initializing X", "initialized X", started("steady", "boot"), "returned steady success"};
  auto records = records_of("X");
  for (const TaskProgress& progress : {begun(), succeeded()}) {
    progress_of(records, "steady") = progress;
    EXPECT_THAT(complaints_of({words}, records), IsEmpty());
  }
  progress_of(records, "steady") = failed();
  EXPECT_THAT(complaints_of({words}, records), ElementsAre(HasSubstr("its success is lost")));
}

TEST(Promises, of_a_run_that_ended_are_kept_only_by_its_end) {
  const Words words{"initializing X",
                    "initialized X",
                    started("shaky", "boot"),
                    "returned shaky failure",
                    "ended shaky failure"};
  auto records = records_of("X");
  progress_of(records, "shaky") = failed();
  EXPECT_THAT(complaints_of({words}, records), IsEmpty());
  for (const TaskProgress& progress : {begun(), interrupted()}) {
    progress_of(records, "shaky") = progress;
    EXPECT_THAT(complaints_of({words, {"initializing X"}}, records),
                ElementsAre(HasSubstr("its end is lost")));
  }
  progress_of(records, "shaky") = succeeded();
  EXPECT_THAT(complaints_of({words}, records), ElementsAre(HasSubstr("its failure is lost")));
}

TEST(Promises, let_a_start_be_recorded_before_its_callback_begins) {
  auto records = records_of("X");
  progress_of(records, "steady") = begun();
  EXPECT_THAT(complaints_of({{"initializing X", "initialized X"}}, records), IsEmpty());
  progress_of(records, "steady") = succeeded();
  EXPECT_THAT(complaints_of({{"initializing X", "initialized X"}}, records),
              ElementsAre(HasSubstr("no callback was called")));
}

TEST(Promises, forget_removed_tasks) {
  const Words words{"initializing X",
                    "initialized X",
                    started("dropped", "boot"),
                    "returned dropped success",
                    "ended dropped success",
                    "initializing Y",
                    "initialized Y"};
  EXPECT_THAT(complaints_of({words}, records_of("Y")), IsEmpty());
}

TEST(Promises, are_broken_by_work_that_is_done_twice) {
  const Words words{"initializing X",
                    "initialized X",
                    started("steady", "boot"),
                    "returned steady success",
                    "ended steady success"};
  auto records = records_of("X");
  progress_of(records, "steady") = begun();
  const auto again =
      complaints_of({words, {"initializing X", started("steady", "orphan", 2)}}, records);
  EXPECT_THAT(again, ElementsAre(HasSubstr("started again after its success was printed")));
}

TEST(Restarts, are_only_those_of_interrupted_runs) {
  auto found = records_of("X");
  progress_of(found, "steady") = begun();
  const std::string right = started("steady", "orphan", 2);
  EXPECT_THAT(wrong_restarts(found, {right}, Extent::whole), IsEmpty());
  EXPECT_THAT(wrong_restarts(found, {}, Extent::part), IsEmpty());
  EXPECT_THAT(wrong_restarts(found, {}, Extent::whole), ElementsAre(HasSubstr("not restarted")));
  EXPECT_THAT(wrong_restarts(found, {right, started("shaky", "orphan", 2)}, Extent::whole),
              ElementsAre(HasSubstr("shaky was not interrupted")));
  EXPECT_THAT(wrong_restarts(found, {started("steady", "orphan", 1)}, Extent::whole),
              ElementsAre(HasSubstr("restarted as another run")));
  EXPECT_THAT(wrong_restarts(found, {started("steady", "cron", 1)}, Extent::whole),
              ElementsAre(HasSubstr("for another reason")));
}

}  // namespace
}  // namespace dutiful::faults
