#include "store/sqlite/replace_list.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <dutiful/errors.h>

#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"
#include "store/sqlite/task_rows.h"

namespace dutiful {
namespace {

constexpr std::size_t named_max = 64;

// Names the task in an error that occurs while it is written (RULES P4).
template <typename Work>
void schedule(const PlannedTask& task, Work work) {
  try {
    work();
  } catch (const Error& error) {
    throw ScheduleTaskError(
        task.config.name, task.config.cron, error.what(), std::current_exception());
  }
}

// The positions of the tasks that have no row yet, with those of one schedule side by side: they
// run together, and rows that are neighbours in the file are written together.
std::vector<std::size_t> new_tasks(const std::vector<PlannedTask>& tasks) {
  std::vector<std::size_t> added;
  std::unordered_map<std::string_view, std::size_t> groups;
  std::vector<std::size_t> group_of(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].row != PlannedTask::no_row) continue;
    added.push_back(i);
    group_of[i] = groups.try_emplace(tasks[i].config.cron, groups.size()).first->second;
  }
  std::ranges::stable_sort(added, {}, [&](std::size_t i) { return group_of[i]; });
  return added;
}

void update_tasks(const Database& database,
                  const std::vector<PlannedTask>& tasks,
                  const WriteProgress& write_progress) {
  Statement configure{database, "UPDATE task SET cron = ?, retry_delay_ms = ? WHERE id = ?"};
  Statement forget{database, "DELETE FROM account WHERE task = ?"};
  for (const PlannedTask& task : tasks) {
    if (task.row == PlannedTask::no_row) continue;
    schedule(task, [&] {
      if (task.classification == Classification::overridden) {
        configure.bind(0, task.config.cron);
        configure.bind(1, task.config.retry_delay.count());
        configure.bind(2, task.row);
        configure.run();
      }
      if (task.forgets_account) {
        forget.bind(0, task.row);
        forget.run();
      }
      if (task.changed) write_progress(task);
    });
  }
}

}  // namespace

std::int64_t add_scheduler(const Database& database,
                           const std::string& identifier,
                           std::uint64_t fence) {
  Statement insert{database, "INSERT INTO scheduler (identifier, fence) VALUES (?, ?)"};
  insert.bind(0, identifier);
  insert.bind(1, static_cast<std::int64_t>(fence));
  insert.run();
  return database.integer("SELECT last_insert_rowid()");
}

void remove_tasks(const Database& database, const std::vector<TaskRecord>& removed) {
  Statement account{database, "DELETE FROM account WHERE task = ?"};
  Statement progress{database, "DELETE FROM progress WHERE task = ?"};
  Statement task{database, "DELETE FROM task WHERE id = ?"};
  for (const TaskRecord& record : removed) {
    account.bind(0, record.row);
    account.run();
    progress.bind(0, record.row);
    progress.run();
    task.bind(0, record.row);
    task.run();
  }
}

std::vector<std::int64_t> write_tasks(const Database& database,
                                      const Plan& plan,
                                      std::int64_t scheduler,
                                      const WriteProgress& write_progress) {
  update_tasks(database, plan.tasks, write_progress);

  Statement insert{database,
                   "INSERT INTO task (id, name, cron, retry_delay_ms) VALUES (?, ?, ?, ?)"};
  Statement insert_progress{
      database,
      "INSERT INTO progress VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
      " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28)"};
  std::vector<std::int64_t> rows(plan.tasks.size());
  std::ranges::transform(plan.tasks, rows.begin(), &PlannedTask::row);
  std::int64_t row = database.integer("SELECT coalesce(max(id), 0) FROM task");
  for (const std::size_t i : new_tasks(plan.tasks)) {
    const PlannedTask& task = plan.tasks[i];
    rows[i] = ++row;
    schedule(task, [&] {
      insert.bind(0, row);
      insert.bind(1, task.config.name);
      insert.bind(2, task.config.cron);
      insert.bind(3, task.config.retry_delay.count());
      insert.run();
      insert_progress.bind(0, row);
      insert_progress.bind(1, scheduler);
      bind_progress(insert_progress, 2, task.progress);
      bind_account(insert_progress, 17, task.account);
      insert_progress.run();
    });
  }
  return rows;
}

void forget_schedulers(const Database& database,
                       std::int64_t scheduler,
                       std::optional<std::set<std::int64_t>>& named) {
  if (!named || named->size() > named_max) {
    named.emplace();
    Statement row{database, "SELECT DISTINCT scheduler FROM progress"};
    while (row.step()) named->insert(row.integer(0));
  }
  named->insert(scheduler);
  std::vector<std::int64_t> unnamed;
  Statement all{database, "SELECT id FROM scheduler"};
  while (all.step()) {
    if (!named->contains(all.integer(0))) unnamed.push_back(all.integer(0));
  }
  Statement forget{database, "DELETE FROM scheduler WHERE id = ?"};
  for (const std::int64_t number : unnamed) {
    forget.bind(0, number);
    forget.run();
  }
}

}  // namespace dutiful
