// Commit: what was decided is appended to the journal of each shard that the member still holds.
#include <algorithm>
#include <utility>

#include "postgres/record_columns.h"
#include "postgres/requests.h"
#include "postgres/view.h"
#include "time/clock_range.h"

namespace dutiful::postgres {

using namespace cluster;

namespace {

// later(), in SQL.
std::string later_sql(const std::string& from, const std::string& by) {
  const std::string begin = std::to_string(to_bigint(clock_begin));
  const std::string end = std::to_string(to_bigint(clock_end));
  const std::string clamped = "least(greatest(" + from + ", " + begin + "), " + end + ")";
  return "CASE WHEN " + by + " > " + end + " - " + clamped + " THEN " + end + " ELSE " + clamped +
         " + " + by + " END";
}

// A column of an entry: what the member wrote, except that starts and ends count from when they are
// recorded (count_start_from, count_end_from).
std::string stamped(const std::string& column) {
  const std::string at = "coalesce(w.posted, c.now)";
  const auto unless = [&](const std::string& condition, const std::string& value) {
    return "CASE WHEN " + condition + " THEN " + value + " ELSE w." + column + " END";
  };
  const std::string fails = "w.ended IS NOT NULL AND w.state = 2";
  if (column == "last_attempt") return unless("w.started IS NOT NULL", "c.now");
  if (column == "served_until") {
    return unless("w.started IS NOT NULL", "greatest(w.served_until, c.now)");
  }
  if (column == "last_failure") return unless(fails, at);
  if (column == "retry_at") return unless(fails, later_sql(at, "t.retry_delay_ms"));
  if (column == "last_success") {
    return unless("w.ended IS NOT NULL AND w.state <> 2 AND NOT w.orphan_pending", at);
  }
  return "w." + column;
}

std::string append_sql() {
  std::string stamped_list;
  for (const Column& column : progress_columns) stamped_list += ", " + stamped(column.name);
  constexpr int first_progress = 14;
  return "WITH c AS MATERIALIZED (SELECT " + clock_sql(1) +
         " AS now), asked AS (SELECT * FROM unnest($2::integer[], $3::bigint[], $4::bigint[])"
         " WITH ORDINALITY a (shard, epoch, fence, place)),"
         // The fence: only a shard of this epoch is written to.
         " held AS (UPDATE dutiful.shard s SET fence = a.fence, seq = s.seq + $5::bigint FROM "
         "asked a"
         " WHERE s.id = a.shard AND s.epoch = a.epoch RETURNING s.id, s.seq - $5::bigint AS "
         "before),"
         " appended AS (INSERT INTO dutiful.journal"
         " (shard, seq, task, at, member, started, ended, posted, forgotten, account, " +
         progress_list() +
         ") SELECT w.shard, held.before + w.place, w.task, c.now, $6::bigint, w.started, w.ended,"
         " w.posted, w.forgotten, w.account::bigint[]" +
         stamped_list +
         " FROM c, unnest($7::integer[], $8::bytea[], $9::smallint[], $10::smallint[],"
         " $11::bigint[], $12::boolean[], $13::text[], " +
         progress_arrays(first_progress) +
         ") WITH ORDINALITY w (shard, task, started, ended, posted, forgotten, account, " +
         progress_list() +
         ", place) JOIN held ON held.id = w.shard JOIN dutiful.task t ON t.name = w.task)"
         " SELECT c.now, a.shard, held.id IS NULL FROM c LEFT JOIN"
         " (asked a LEFT JOIN held ON held.id = a.shard) ON true ORDER BY a.place";
}

// Writes of shards that the member still holds. The rows are locked, so their epochs stay.
constexpr const char* still_held = " JOIN dutiful.shard s ON s.id = w.shard AND s.epoch = w.epoch ";

struct KeyArrays {
  void add(const Commit::Shard& shard, const std::string& task) {
    shards.add(std::int64_t{shard.id});
    epochs.add(to_bigint(shard.epoch));
    tasks.add_bytes(task);
    ++size;
  }
  [[nodiscard]] Parameters parameters() const {
    return Parameters{}.add(shards).add(epochs).add(tasks);
  }
  Array shards;
  Array epochs;
  Array tasks;
  std::size_t size = 0;
};

void append_stretches(const Commit& commit, std::vector<Command>& commands) {
  KeyArrays keys;
  Array numbers;
  Array untils;
  Array accounts;
  for (const Commit::Shard& shard : commit.shards) {
    for (const Commit::Task& task : shard.tasks) {
      for (const AccountStretch& stretch : task.closed) {
        keys.add(shard, task.run.task);
        numbers.add(stretch.sums.number);
        untils.add(to_bigint(stretch.until));
        accounts.add_numbers(account_numbers(stretch.sums));
      }
    }
  }
  if (keys.size == 0) return;
  const std::string from = " FROM unnest($1::integer[], $2::bigint[], $3::bytea[], $4::bigint[]";
  commands.push_back(
      {"INSERT INTO dutiful.stretch SELECT w.task, w.number, w.until, w.account::bigint[]" + from +
           ", $5::bigint[], $6::text[]) w (shard, epoch, task, number, until, account)" +
           still_held +
           "JOIN dutiful.task t ON t.name = w.task ON CONFLICT (task, number)"
           " DO UPDATE SET until = excluded.until, account = excluded.account",
       keys.parameters().add(numbers).add(untils).add(accounts)});
  commands.push_back({"DELETE FROM dutiful.stretch o USING (SELECT w.task, w.number" + from +
                          ") w (shard, epoch, task, number)" + still_held +
                          ") w WHERE o.task = w.task AND o.number <= w.number - " +
                          std::to_string(stretches_kept),
                      keys.parameters().add(numbers)});
}

void forget_tasks(const Commit& commit, std::vector<Command>& commands) {
  KeyArrays keys;
  for (const Commit::Shard& shard : commit.shards) {
    for (const Commit::Task& task : shard.tasks) {
      if (task.forget) keys.add(shard, task.run.task);
    }
  }
  if (keys.size == 0) return;
  const std::string from =
      std::string{
          " o USING (SELECT w.task FROM unnest($1::integer[], $2::bigint[], $3::bytea[])"
          " w (shard, epoch, task)"} +
      still_held + ") w WHERE w.task = o.";
  commands.push_back({"DELETE FROM dutiful.stretch" + from + "task", keys.parameters()});
  commands.push_back({"DELETE FROM dutiful.task" + from + "name", keys.parameters()});
}

void remove_read_mail(const Commit& commit, std::vector<Command>& commands) {
  KeyArrays keys;
  Array fences;
  for (const Commit::Shard& shard : commit.shards) {
    for (const RunKey& read : shard.read) {
      keys.add(shard, read.task);
      fences.add(to_bigint(read.fence));
    }
  }
  if (keys.size == 0) return;
  commands.push_back({std::string{"DELETE FROM dutiful.mail o USING (SELECT w.task, w.fence FROM"
                                  " unnest($1::integer[], $2::bigint[], $3::bytea[],"
                                  " $4::bigint[]) w (shard, epoch, task, fence)"} +
                          still_held + ") w WHERE o.task = w.task AND o.fence = w.fence",
                      keys.parameters().add(fences)});
}

// Brings the records up to date when the journal has grown long, and removes old entries that were
// folded before, a few at a time.
void fold(const Array& shards, const Context& context, std::vector<Command>& commands) {
  std::string assignments;
  for (const Column& column : progress_columns) {
    assignments.append(column.name).append(" = n.").append(column.name).append(", ");
  }
  const std::string tail =
      " FROM due s JOIN dutiful.journal j ON j.shard = s.id AND j.seq > s.folded";
  commands.push_back(
      {"WITH due AS MATERIALIZED (SELECT * FROM dutiful.shard WHERE id = ANY ($1::integer[])"
       " AND seq - folded >= $2), n AS (SELECT DISTINCT ON (j.task) j.*" +
           tail +
           " ORDER BY j.task, j.seq DESC), a AS (SELECT DISTINCT ON (j.task) j.task,"
           " j.account" +
           tail +
           " WHERE j.account IS NOT NULL ORDER BY j.task, j.seq DESC),"
           " folded AS (UPDATE dutiful.task t SET " +
           assignments +
           "account = coalesce(a.account, t.account)"
           " FROM n LEFT JOIN a ON a.task = n.task WHERE t.name = n.task),"
           " old AS (DELETE FROM dutiful.journal j USING due,"
           " LATERAL (SELECT o.seq FROM dutiful.journal o WHERE o.shard = due.id"
           " AND o.seq <= due.folded ORDER BY o.seq LIMIT 2 * $2) oldest"
           " WHERE j.shard = due.id AND j.seq = oldest.seq AND j.at < " +
           clock_sql(3) +
           " - $4::bigint)"
           " UPDATE dutiful.shard SET folded = seq WHERE id IN (SELECT id FROM due)",
       Parameters{}
           .add(shards)
           .add(context.fold_after)
           .add(context.clock)
           .add(context.history.count())});
}

}  // namespace

Round make_round(const Commit& commit, const Context& context) {
  Array ids;
  Array epochs;
  Array fences;
  Array shards;
  Array tasks;
  Array started;
  Array ended;
  Array posted;
  Array forgotten;
  Array accounts;
  ProgressArrays progress;
  std::int64_t count = 0;
  for (const Commit::Shard& shard : commit.shards) {
    ids.add(std::int64_t{shard.id});
    epochs.add(to_bigint(shard.epoch));
    fences.add(to_bigint(shard.fence));
    for (const Commit::Task& task : shard.tasks) {
      ++count;
      shards.add(std::int64_t{shard.id});
      tasks.add_bytes(task.run.task);
      task.started ? started.add(static_cast<std::int64_t>(*task.started)) : started.add_null();
      task.ended ? ended.add(static_cast<std::int64_t>(*task.ended)) : ended.add_null();
      task.posted ? posted.add(*task.posted) : posted.add_null();
      forgotten.add(std::int64_t{task.forget ? 1 : 0});
      task.account ? accounts.add_numbers(account_numbers(*task.account)) : accounts.add_null();
      progress.add(task.runner, task.progress);
    }
  }
  Parameters parameters = Parameters{}
                              .add(context.clock)
                              .add(ids)
                              .add(epochs)
                              .add(fences)
                              .add(count)
                              .add(to_bigint(commit.member))
                              .add(shards)
                              .add(tasks)
                              .add(started)
                              .add(ended)
                              .add(posted)
                              .add(forgotten)
                              .add(accounts);
  progress.add_to(parameters);

  static const std::string append = append_sql();
  Round round;
  round.commands.push_back(lock_shards(ids));
  round.commands.push_back({append, std::move(parameters)});
  append_stretches(commit, round.commands);
  forget_tasks(commit, round.commands);
  remove_read_mail(commit, round.commands);
  fold(ids, context, round.commands);
  round.then = [](const Results& results) -> Outcome {
    const Result& rows = results[1];
    Committed committed{.clock = rows.instant(0, 0)};
    for (int row = 0; row < rows.rows(); ++row) {
      if (!rows.is_null(row, 1) && rows.boolean(row, 2)) {
        committed.refused.push_back(static_cast<ShardId>(rows.integer(row, 1)));
      }
    }
    return {std::move(committed)};
  };
  return round;
}

}  // namespace dutiful::postgres
