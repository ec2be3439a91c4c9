#include "postgres/view.h"

#include <algorithm>
#include <functional>
#include <string>

#include "cluster/records.h"
#include "postgres/record_columns.h"

namespace dutiful::postgres {
namespace {

// What a row of the view is about. Each kind uses the columns in its own way.
enum class Kind : std::uint8_t { list, member, shard, mail, run };

// Runs on member $1 whose ends were not posted. The journal is short, and the records of runs have
// an index, so that a renewal does not read every task.
std::string select_runs() {
  const std::string tail{journal_tail};
  return "SELECT r.task, r.fence FROM ("
         "SELECT n.task, n.fence FROM (SELECT DISTINCT ON (j.task) j.task, j.fence, j.runner,"
         " j.state FROM " +
         tail +
         " ORDER BY j.task, j.seq DESC) n"
         " JOIN dutiful.task t ON t.name = n.task WHERE n.runner = $1 AND n.state = 1"
         " UNION ALL SELECT t.name, t.fence FROM dutiful.task t"
         " WHERE t.runner = $1 AND t.runner <> 0 AND t.state = 1"
         " AND NOT EXISTS (SELECT FROM " +
         tail +
         " WHERE s.id = t.shard AND j.task = t.name)"
         ") r WHERE NOT EXISTS"
         " (SELECT FROM dutiful.mail m WHERE m.task = r.task AND m.fence = r.fence)";
}

}  // namespace

std::string clock_sql(int parameter) {
  return "coalesce($" + std::to_string(parameter) +
         "::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)";
}

Command select_view(cluster::MemberId member, std::optional<Instant> clock, Leaving leaving) {
  std::string sql = "WITH runs AS MATERIALIZED (" + select_runs() + ")";
  if (leaving == Leaving::yes) {
    sql += ", gone AS (DELETE FROM dutiful.member WHERE id = $1 AND NOT EXISTS (SELECT FROM runs))";
  }
  sql += " SELECT 0, generation, print, version, " + clock_sql(2) +
         ", NULL::bytea FROM dutiful.list"
         " UNION ALL SELECT 1, id, renewals, lease_ms, accepts::int, NULL FROM dutiful.member"
         " UNION ALL SELECT 2, id, holder, epoch, NULL, NULL FROM dutiful.shard"
         " UNION ALL SELECT 3, m.fence, m.result, m.at, NULL, m.task FROM dutiful.mail m"
         " JOIN dutiful.shard s ON s.id = m.shard WHERE s.holder = $1"
         " UNION ALL SELECT 4, fence, NULL, NULL, NULL, task FROM runs";
  return {sql, Parameters{}.add(to_bigint(member)).add(clock)};
}

cluster::View read_view(const Result& result, cluster::MemberId member) {
  using namespace cluster;
  View view{};
  for (int row = 0; row < result.rows(); ++row) {
    const auto number = [&](int column) {
      return static_cast<std::uint64_t>(result.integer(row, column));
    };
    switch (static_cast<Kind>(number(0))) {
      case Kind::list:
        view.generation = number(1);
        view.list = number(2);
        view.version = number(3);
        view.clock = result.instant(row, 4);
        break;
      case Kind::member:
        view.members.push_back({.id = MemberId{number(1)},
                                .renewals = number(2),
                                .lease = Duration{result.integer(row, 3)},
                                .accepts = number(4) != 0});
        if (view.members.back().id == member) view.renewals = number(2);
        break;
      case Kind::shard:
        view.shards.resize(std::max<std::size_t>(view.shards.size(), number(1) + 1));
        view.shards[number(1)] = {MemberId{number(2)}, number(3)};
        break;
      case Kind::mail:
        view.mail.push_back({.run = {result.bytes(row, 5), number(1)},
                             .result = static_cast<RunResult>(number(2)),
                             .at = result.instant(row, 3)});
        break;
      case Kind::run:
        view.runs.push_back({result.bytes(row, 5), number(1)});
        break;
    }
  }
  std::ranges::sort(view.members, {}, &MemberRow::id);
  std::ranges::sort(view.mail, std::less<>{}, &Mail::run);
  std::ranges::sort(view.runs, std::less<>{});
  return view;
}

}  // namespace dutiful::postgres
