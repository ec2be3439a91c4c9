// Apply: the only request whose outcome is computed here. Its transaction takes two rounds.
#include <algorithm>
#include <utility>

#include "cluster/records.h"
#include "postgres/record_columns.h"
#include "postgres/requests.h"
#include "postgres/view.h"

namespace dutiful::postgres {

using namespace cluster;

namespace {

// Nothing of it happens. The view shows why: generations only grow.
Round give_up(MemberId member, const Context& context) {
  Round round;
  round.commands.push_back({"ROLLBACK"});
  round.commands.push_back(order_view_of(member));
  round.commands.push_back(select_view(member, context.clock));
  round.then = [member](const Results& results) -> Outcome {
    View view = read_view(results[2], member);
    if (!is_member(member, view.members)) return {Dead{}};
    return {Looked{std::move(view)}};
  };
  return round;
}

Command insert_records(const std::vector<Record>& records, std::size_t total) {
  Array names;
  Array shards;
  Array crons;
  Array delays;
  Array registered;
  Array accounts;
  ProgressArrays progress;
  for (const Record& record : records) {
    names.add_bytes(record.config.name);
    shards.add(std::int64_t{shard_of(record.config.name, total)});
    crons.add_bytes(record.config.cron);
    delays.add(record.config.retry_delay.count());
    registered.add(std::int64_t{record.registered ? 1 : 0});
    accounts.add_numbers(account_numbers(record.account));
    progress.add(record.runner, record.progress);
  }
  constexpr int first_progress = 7;
  Command insert{
      "INSERT INTO dutiful.task (name, shard, cron, retry_delay_ms, registered, account, " +
          progress_list() +
          ") SELECT w.name, w.shard, w.cron, w.retry_delay_ms, w.registered,"
          " w.account::bigint[], " +
          progress_list("w.") +
          " FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $4::bigint[],"
          " $5::boolean[], $6::text[], " +
          progress_arrays(first_progress) +
          ") w (name, shard, cron, retry_delay_ms, registered, account, " + progress_list() + ")",
      Parameters{}.add(names).add(shards).add(crons).add(delays).add(registered).add(accounts)};
  progress.add_to(insert.parameters);
  return insert;
}

// The members and the mail of that instant, which come after the records (end_of).
View read_members_and_mail(const Result& result) {
  View view{};
  for (int row = 0; row < result.rows(); ++row) {
    const auto number = [&](int column) {
      return static_cast<std::uint64_t>(result.integer(row, column));
    };
    if (result.is_null(row, 2)) {
      view.members.push_back({.id = MemberId{number(0)}});
    } else {
      view.mail.push_back({.run = {result.bytes(row, 2), number(0)},
                           .result = static_cast<RunResult>(number(1)),
                           .at = result.instant(row, 3)});
    }
  }
  std::ranges::sort(view.members, {}, &MemberRow::id);
  return view;
}

// Replaces the records by these and takes every shard.
Round write_list(const Apply& apply, const Context& context, std::vector<Record> records) {
  const Parameters member = Parameters{}.add(to_bigint(apply.member));
  Round round;
  round.commands.push_back({"DELETE FROM dutiful.task"});
  round.commands.push_back(insert_records(records, context.shards));
  // An account that has not begun anew keeps its stretches.
  round.commands.push_back(
      {"DELETE FROM dutiful.stretch o WHERE NOT EXISTS (SELECT FROM dutiful.task t"
       " WHERE t.name = o.task AND t.account[2] > o.number)"});
  round.commands.push_back(
      {"UPDATE dutiful.list SET generation = generation + 1, print = $1, version = $2",
       Parameters{}.add(to_bigint(apply.print)).add(to_bigint(apply.version))});
  round.commands.push_back(
      {"WITH taken AS (UPDATE dutiful.shard SET holder = $1, epoch = epoch + 1,"
       " folded = seq RETURNING id, epoch, fence)"
       " SELECT * FROM taken ORDER BY id",
       member});
  round.commands.push_back({std::string{"SELECT "} + notify});
  round.commands.push_back(order_view_of(apply.member));
  round.commands.push_back(select_view(apply.member, context.clock));
  round.commands.push_back({"COMMIT"});
  round.then = [id = apply.member,
                records = std::move(records)](const Results& results) -> Outcome {
    Taken taken{.view = read_view(results[7], id), .records = records};
    const Result& shards = results[4];
    for (int row = 0; row < shards.rows(); ++row) {
      taken.shards.push_back({static_cast<ShardId>(shards.integer(row, 0)),
                              static_cast<Epoch>(shards.integer(row, 1)),
                              static_cast<std::uint64_t>(shards.integer(row, 2))});
    }
    return {std::move(taken)};
  };
  return round;
}

}  // namespace

Round make_round(const Apply& apply, const Context& context) {
  Round round;
  round.commands.push_back({"BEGIN"});
  round.commands.push_back(rely_on(apply.member));
  round.commands.push_back({"SELECT generation, print FROM dutiful.list FOR UPDATE"});
  round.commands.push_back({"SELECT FROM dutiful.shard ORDER BY id FOR NO KEY UPDATE"});
  round.commands.push_back({select_records("", "dutiful.task t")});
  // What is posted later is for the new deciders: only what is read here is removed.
  round.commands.push_back(
      {"WITH mail AS (DELETE FROM dutiful.mail RETURNING fence, result, task, at)"
       " SELECT id, NULL::smallint, NULL::bytea, NULL::bigint FROM dutiful.member"
       " UNION ALL SELECT * FROM mail"});
  round.commands.push_back({"SELECT " + clock_sql(1), Parameters{}.add(context.clock)});
  round.then = [apply, context](const Results& results) -> Outcome {
    const auto generation = static_cast<Generation>(results[2].integer(0, 0));
    const auto print = static_cast<ListPrint>(results[2].integer(0, 1));
    if (results[1].rows() == 0 || apply.generation != generation ||
        (generation > 0 && apply.print == print)) {
      return {give_up(apply.member, context)};
    }
    std::vector<Record> before;
    before.reserve(static_cast<std::size_t>(results[4].rows()));
    for (int row = 0; row < results[4].rows(); ++row) {
      before.push_back(read_record(results[4], row, 0));
    }
    const View view = read_members_and_mail(results[5]);
    return {write_list(apply,
                       context,
                       replace_list(apply.list,
                                    std::move(before),
                                    view.members,
                                    view.mail,
                                    results[6].instant(0, 0),
                                    *context.calendar,
                                    context.override))};
  };
  return round;
}

}  // namespace dutiful::postgres
