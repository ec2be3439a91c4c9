#include "postgres/requests.h"

#include <algorithm>
#include <utility>

#include "cluster/records.h"
#include "postgres/record_columns.h"
#include "postgres/view.h"

namespace dutiful::postgres {

using namespace cluster;

namespace {

// The view, or Dead if the member is not in it.
Answer look(const Result& result, MemberId member, std::vector<ShardId> orphaned = {}) {
  View view = read_view(result, member);
  if (!is_member(member, view.members)) return Dead{};
  return Looked{std::move(view), std::move(orphaned)};
}

struct ShardArrays {
  explicit ShardArrays(const std::vector<Take::Shard>& shards) {
    for (const Take::Shard& shard : shards) {
      ids.add(std::int64_t{shard.id});
      epochs.add(to_bigint(shard.epoch));
    }
  }
  Array ids;
  Array epochs;
};

std::uint64_t unsigned_at(const Result& result, int row, int column) {
  return static_cast<std::uint64_t>(result.integer(row, column));
}

}  // namespace

Command rely_on(MemberId member) {
  return {"SELECT FROM dutiful.member WHERE id = $1 FOR KEY SHARE",
          Parameters{}.add(to_bigint(member))};
}

Command order_view_of(MemberId member) {
  return {"SELECT FROM dutiful.member WHERE id = $1 FOR SHARE",
          Parameters{}.add(to_bigint(member))};
}

Command lock_shards(const Array& ids) {
  return {"SELECT FROM dutiful.shard WHERE id = ANY ($1::integer[]) ORDER BY id FOR NO KEY UPDATE",
          Parameters{}.add(ids)};
}

Round make_round(const Join& join, const Context& context) {
  Round round;
  round.commands.push_back(
      {"INSERT INTO dutiful.member VALUES ($1, 0, $2, false)"
       " ON CONFLICT (id) DO UPDATE SET renewals = 0, lease_ms = $2, accepts = false",
       Parameters{}.add(to_bigint(join.member)).add(join.lease.count())});
  round.commands.push_back(select_view(join.member, context.clock));
  round.then = [member = join.member](const Results& results) -> Outcome {
    return {look(results[1], member)};
  };
  return round;
}

Round make_round(const Renew& renew, const Context& context) {
  Round round;
  round.commands.push_back({"SELECT FROM dutiful.member WHERE id = $1 FOR NO KEY UPDATE",
                            Parameters{}.add(to_bigint(renew.member))});
  round.commands.push_back(
      {std::string{"WITH before AS (SELECT accepts FROM dutiful.member WHERE id = $1),"
                   " renewed AS (UPDATE dutiful.member m"
                   " SET renewals = m.renewals + 1, accepts = $2 FROM before WHERE m.id = $1"
                   " RETURNING before.accepts <> m.accepts AS changed)"
                   " SELECT CASE WHEN changed THEN "} +
           notify + "::text END FROM renewed",
       Parameters{}.add(to_bigint(renew.member)).add(std::int64_t{renew.accepts ? 1 : 0})});
  round.commands.push_back(select_view(renew.member, context.clock));
  round.then = [member = renew.member](const Results& results) -> Outcome {
    if (results[1].rows() == 0) return {Dead{}};
    return {look(results[2], member)};
  };
  return round;
}

Round make_round(const Declare& declare, const Context& context) {
  const Parameters dead = Parameters{}.add(to_bigint(declare.dead));
  Round round;
  round.commands.push_back(
      {"SELECT FROM dutiful.member WHERE id IN ($1, $2) ORDER BY id FOR UPDATE",
       Parameters{}.add(to_bigint(declare.member)).add(to_bigint(declare.dead))});
  round.commands.push_back(
      {std::string{"WITH gone AS (DELETE FROM dutiful.member WHERE id = $1 AND renewals = $2"
                   " RETURNING id) SELECT "} +
           notify + " FROM gone",
       Parameters{}.add(to_bigint(declare.dead)).add(to_bigint(declare.renewals))});
  // From here on its row is gone, or nothing happens. Only a member that is there holds shards.
  const std::string is_gone = " AND NOT EXISTS (SELECT FROM dutiful.member WHERE id = $1)";
  round.commands.push_back(
      {"SELECT FROM dutiful.shard WHERE holder = $1" + is_gone + " ORDER BY id FOR NO KEY UPDATE",
       dead});
  round.commands.push_back(
      {"UPDATE dutiful.shard SET holder = 0, epoch = epoch + 1 WHERE holder = $1" + is_gone, dead});
  const std::string tail{journal_tail};
  round.commands.push_back(
      {"SELECT DISTINCT r.shard FROM (SELECT n.shard FROM (SELECT DISTINCT ON (j.task) j.* FROM " +
           tail +
           " ORDER BY j.task, j.seq DESC) n JOIN dutiful.task t ON t.name = n.task"
           " WHERE n.runner = $1 UNION ALL SELECT t.shard FROM dutiful.task t"
           " WHERE t.runner = $1 AND t.runner <> 0 AND NOT EXISTS (SELECT FROM " +
           tail + " WHERE s.id = t.shard AND j.task = t.name)) r WHERE true" + is_gone +
           " ORDER BY 1",
       dead});
  round.commands.push_back(select_view(declare.member, context.clock));
  round.then = [member = declare.member](const Results& results) -> Outcome {
    std::vector<ShardId> orphaned;
    const bool is_declared = results[1].rows() > 0;
    for (int row = 0; is_declared && row < results[4].rows(); ++row) {
      orphaned.push_back(static_cast<ShardId>(results[4].integer(row, 0)));
    }
    return {look(results[5], member, std::move(orphaned))};
  };
  return round;
}

Round make_round(const Take& take, const Context& context) {
  const ShardArrays wanted{take.shards};
  Round round;
  round.commands.push_back(rely_on(take.member));
  round.commands.push_back(lock_shards(wanted.ids));
  // No list is applied meanwhile, because that needs the locks of all shards.
  round.commands.push_back({"SELECT generation FROM dutiful.list"});
  round.commands.push_back(
      {"WITH taken AS (UPDATE dutiful.shard s SET holder = $1, epoch = s.epoch + 1"
       " FROM unnest($3::integer[], $4::bigint[]) w (id, epoch)"
       " WHERE s.id = w.id AND s.epoch = w.epoch"
       " AND EXISTS (SELECT FROM dutiful.member WHERE id = $1)"
       " AND EXISTS (SELECT FROM dutiful.list WHERE generation = $2)"
       " RETURNING s.id, s.epoch, s.fence) " +
           select_records("taken.id, taken.epoch, taken.fence, ",
                          "taken LEFT JOIN dutiful.task t ON t.shard = taken.id"),
       Parameters{}
           .add(to_bigint(take.member))
           .add(to_bigint(take.generation))
           .add(wanted.ids)
           .add(wanted.epochs)});
  round.commands.push_back(order_view_of(take.member));
  round.commands.push_back(select_view(take.member, context.clock));
  round.then = [take](const Results& results) -> Outcome {
    Answer looked = look(results[5], take.member);
    if (!std::holds_alternative<Looked>(looked)) return {std::move(looked)};
    if (unsigned_at(results[2], 0, 0) != take.generation) return {std::move(looked)};
    Taken taken{.view = std::get<Looked>(std::move(looked)).view};
    const Result& rows = results[3];
    for (int row = 0; row < rows.rows(); ++row) {
      const auto id = static_cast<ShardId>(rows.integer(row, 0));
      if (std::ranges::find(taken.shards, id, &Taken::Shard::id) == taken.shards.end()) {
        taken.shards.push_back({id, unsigned_at(rows, row, 1), unsigned_at(rows, row, 2)});
      }
      if (!rows.is_null(row, 3)) taken.records.push_back(read_record(rows, row, 3));
    }
    // In the order in which they were asked for.
    std::ranges::sort(taken.shards, {}, [&](const Taken::Shard& shard) {
      return std::ranges::find(take.shards, shard.id, &Take::Shard::id) - take.shards.begin();
    });
    return {std::move(taken)};
  };
  return round;
}

Round make_round(const Release& release, const Context& context) {
  const ShardArrays freed{release.shards};
  Round round;
  round.commands.push_back(lock_shards(freed.ids));
  round.commands.push_back(
      {"UPDATE dutiful.shard s SET holder = 0, epoch = s.epoch + 1"
       " FROM unnest($1::integer[], $2::bigint[]) w (id, epoch)"
       " WHERE s.id = w.id AND s.epoch = w.epoch",
       Parameters{}.add(freed.ids).add(freed.epochs)});
  round.commands.push_back(
      {"SELECT " + clock_sql(1) + ", " + notify, Parameters{}.add(context.clock)});
  round.then = [](const Results& results) -> Outcome {
    return {Done{.clock = results[2].instant(0, 0)}};
  };
  return round;
}

Round make_round(const Post& post, const Context& context) {
  Array tasks;
  Array fences;
  Array shards;
  Array results;
  for (const Mail& mail : post.mail) {
    tasks.add_bytes(mail.run.task);
    fences.add(to_bigint(mail.run.fence));
    shards.add(std::int64_t{shard_of(mail.run.task, context.shards)});
    results.add(static_cast<std::int64_t>(mail.result));
  }
  Round round;
  round.commands.push_back(rely_on(post.member));
  // The first mail about a run counts. Two members post in the same order, so neither waits for the
  // other in a circle.
  round.commands.push_back(
      {"WITH here AS (SELECT " + clock_sql(2) +
           " AS now FROM dutiful.member WHERE id = $1), posted AS (INSERT INTO dutiful.mail"
           " SELECT w.task, w.fence, w.shard, w.result, here.now FROM here,"
           " unnest($3::bytea[], $4::bigint[], $5::integer[], $6::smallint[])"
           " WITH ORDINALITY w (task, fence, shard, result, place)"
           " ORDER BY w.task, w.fence, w.place ON CONFLICT DO NOTHING) SELECT now, " +
           notify + " FROM here",
       Parameters{}
           .add(to_bigint(post.member))
           .add(context.clock)
           .add(tasks)
           .add(fences)
           .add(shards)
           .add(results)});
  round.then = [](const Results& answers) -> Outcome {
    if (answers[1].rows() == 0) return {Dead{}};
    return {Done{.clock = answers[1].instant(0, 0)}};
  };
  return round;
}

Round make_round(const Leave& leave, const Context& context) {
  const Parameters member = Parameters{}.add(to_bigint(leave.member));
  Round round;
  round.commands.push_back({"SELECT FROM dutiful.member WHERE id = $1 FOR UPDATE", member});
  round.commands.push_back(
      {"SELECT FROM dutiful.shard WHERE holder = $1 ORDER BY id FOR NO KEY UPDATE", member});
  round.commands.push_back(
      {"UPDATE dutiful.shard SET holder = 0, epoch = epoch + 1 WHERE holder = $1", member});
  round.commands.push_back({std::string{"SELECT "} + notify});
  round.commands.push_back(select_view(leave.member, context.clock, Leaving::yes));
  round.then = [id = leave.member](const Results& results) -> Outcome {
    View view = read_view(results[4], id);
    if (view.runs.empty()) return {Done{.clock = view.clock}};
    return {Looked{std::move(view)}};
  };
  return round;
}

}  // namespace dutiful::postgres
