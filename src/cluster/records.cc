#include "cluster/records.h"

#include <algorithm>
#include <utility>

#include "core/ends.h"
#include "core/plan.h"

namespace dutiful::cluster {
namespace {

void settle(Record& record, RunResult result, Instant now) {
  record.runner = MemberId::none;
  switch (result) {
    case RunResult::success:
      return succeed(record.progress, now);
    case RunResult::failure:
      return fail(record.progress, now, record.config.retry_delay);
    case RunResult::interrupted:
      return interrupt(record.progress);
  }
}

}  // namespace

bool is_member(MemberId id, std::span<const MemberRow> members) {
  return std::ranges::binary_search(members, id, {}, &MemberRow::id);
}

std::optional<RunEnd> end_of(const RunKey& run,
                             MemberId runner,
                             std::span<const MemberRow> members,
                             std::span<const Mail> mail) {
  const auto posted = std::ranges::find(mail, run, &Mail::run);
  if (posted != mail.end()) return RunEnd{posted->result, posted->at};
  if (is_member(runner, members)) return std::nullopt;
  return RunEnd{RunResult::interrupted};
}

std::vector<Record> replace_list(std::vector<TaskConfig> list,
                                 std::vector<Record> records,
                                 std::span<const MemberRow> members,
                                 std::span<const Mail> mail,
                                 Instant now,
                                 const Calendar& calendar,
                                 Override override) {
  StoredState stored;
  std::vector<Record> running;  // on members
  for (Record& record : records) {
    if (record.progress.state == TaskState::running) {
      const auto end =
          end_of({record.config.name, record.progress.fence}, record.runner, members, mail);
      if (end) {
        settle(record, end->result, end->posted.value_or(now));
      } else {
        running.push_back(record);
      }
    }
    if (record.registered) {
      stored.records.push_back(
          {.config = record.config, .progress = record.progress, .account = record.account});
    }
  }

  Plan plan = make_plan(std::move(list), std::move(stored), now, calendar, override, Runs::go_on);
  std::vector<Record> next;
  for (PlannedTask& task : plan.tasks) {
    next.push_back(
        {.config = std::move(task.config), .progress = task.progress, .account = task.account});
  }
  for (Record& run : running) {
    const auto name = [](const Record& record) -> const std::string& { return record.config.name; };
    const auto place = std::ranges::lower_bound(next, name(run), {}, name);
    if (place != next.end() && name(*place) == name(run)) {
      keep_running(place->progress, run.progress);
      place->runner = run.runner;
    } else {
      run.registered = false;
      next.insert(place, std::move(run));
    }
  }
  return next;
}

}  // namespace dutiful::cluster
