#include "postgres/schema.h"

#include <array>
#include <string>
#include <utility>

namespace dutiful::postgres {
namespace {

// Says that the tables are ours. Stored, so never changed.
constexpr const char* mark = "state of a dutiful cluster";

// Whoever makes the tables holds it: the bytes of "dutiful".
constexpr std::int64_t making_lock = 0x64757469'66756c;

// Numbers without a sign are stored by their bits. Instants are milliseconds since 1970. Names and
// expressions are bytes, because the rules allow any (E), and so that no collation orders them.
constexpr std::array tables{
    "CREATE SCHEMA dutiful",
    "CREATE TABLE dutiful.format (mark text NOT NULL, version integer NOT NULL,"
    " shards integer NOT NULL)",
    // The list that counts. One row.
    "CREATE TABLE dutiful.list (generation bigint NOT NULL, print bigint NOT NULL,"
    " version bigint NOT NULL)",
    "INSERT INTO dutiful.list VALUES (0, 0, 0)",
    "CREATE TABLE dutiful.member (id bigint PRIMARY KEY, renewals bigint NOT NULL,"
    " lease_ms bigint NOT NULL, accepts boolean NOT NULL) WITH (fillfactor = 50)",
    // holder: 0 is nobody. fence: of the newest run. seq: of the newest entry in the journal.
    // folded: the entries up to here are in the records.
    "CREATE TABLE dutiful.shard (id integer PRIMARY KEY, holder bigint NOT NULL,"
    " epoch bigint NOT NULL, fence bigint NOT NULL, seq bigint NOT NULL, folded bigint NOT NULL)"
    " WITH (fillfactor = 50)",
    // The records, except for what the journal says since.
    "CREATE TABLE dutiful.task (name bytea PRIMARY KEY, shard integer NOT NULL,"
    " cron bytea NOT NULL, retry_delay_ms bigint NOT NULL, registered boolean NOT NULL,"
    " runner bigint NOT NULL, state smallint NOT NULL, boot_pending boolean NOT NULL,"
    " orphan_pending boolean NOT NULL, attempt bigint NOT NULL, retries bigint NOT NULL,"
    " fence bigint NOT NULL, recurrence bigint NOT NULL, pulse bigint, first_coming bigint,"
    " served_until bigint, last_attempt bigint, last_success bigint, last_failure bigint,"
    " retry_at bigint, recurs_until bigint, account bigint[] NOT NULL)",
    "CREATE INDEX task_shard ON dutiful.task (shard)",
    "CREATE INDEX task_runner ON dutiful.task (runner) WHERE runner <> 0",
    // What was recorded: the whole progress each time. Only appended to, under the lock of the
    // shard.
    "CREATE TABLE dutiful.journal (shard integer NOT NULL, seq bigint NOT NULL,"
    " task bytea NOT NULL, at bigint NOT NULL, member bigint NOT NULL, started smallint,"
    " ended smallint, posted bigint, forgotten boolean NOT NULL,"
    " runner bigint NOT NULL, state smallint NOT NULL, boot_pending boolean NOT NULL,"
    " orphan_pending boolean NOT NULL, attempt bigint NOT NULL, retries bigint NOT NULL,"
    " fence bigint NOT NULL, recurrence bigint NOT NULL, pulse bigint, first_coming bigint,"
    " served_until bigint, last_attempt bigint, last_success bigint, last_failure bigint,"
    " retry_at bigint, recurs_until bigint, account bigint[], PRIMARY KEY (shard, seq))",
    // Stretches of accounts that have ended.
    "CREATE TABLE dutiful.stretch (task bytea NOT NULL, number bigint NOT NULL,"
    " until bigint NOT NULL, account bigint[] NOT NULL, PRIMARY KEY (task, number))",
    "CREATE TABLE dutiful.mail (task bytea NOT NULL, fence bigint NOT NULL,"
    " shard integer NOT NULL, result smallint NOT NULL, at bigint NOT NULL,"
    " PRIMARY KEY (task, fence))",
};

Round read_format(const Setup& setup);

Outcome refuse(std::string why) {
  return {Refusal{std::move(why)}};
}

constexpr const char* foreign =
    "its schema \"dutiful\" belongs to another program; use another database";

// Another member may be doing the same. Whoever waits for the lock finds the tables.
Round make_tables(const Setup& setup) {
  Round look;
  look.commands.push_back({"BEGIN"});
  look.commands.push_back({"SELECT pg_advisory_xact_lock($1)", Parameters{}.add(making_lock)});
  // Not to_regnamespace(), which may remember what it answered before the lock was free.
  look.commands.push_back({"SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'dutiful')"});
  look.then = [setup](const Results& results) -> Outcome {
    Round make;
    if (!results[2].boolean(0, 0)) {
      for (const char* table : tables) make.commands.push_back({table});
      make.commands.push_back({"INSERT INTO dutiful.format VALUES ($1, $2, $3)",
                               Parameters{}
                                   .add_text(mark)
                                   .add(std::int64_t{schema_version})
                                   .add(static_cast<std::int64_t>(setup.shards))});
      make.commands.push_back(
          {"INSERT INTO dutiful.shard SELECT n, 0, 0, 0, 0, 0 FROM generate_series(0, $1 - 1) n",
           Parameters{}.add(static_cast<std::int64_t>(setup.shards))});
    }
    make.commands.push_back({"COMMIT"});
    make.then = [setup](const Results& /*results*/) { return Outcome{read_format(setup)}; };
    return {std::move(make)};
  };
  return look;
}

Round read_format(const Setup& setup) {
  Round read;
  read.commands.push_back({"SELECT mark, version, shards FROM dutiful.format"});
  if (setup.listens) read.commands.push_back({"LISTEN dutiful"});
  read.then = [setup](const Results& results) -> Outcome {
    const Result& format = results[0];
    if (format.rows() != 1 || format.text(0, 0) != mark) return refuse(foreign);
    const std::int64_t version = format.integer(0, 1);
    if (version > schema_version) {
      return refuse("its schema \"dutiful\" has version " + std::to_string(version) +
                    ", and this dutiful knows versions up to " + std::to_string(schema_version) +
                    "; use a newer dutiful or another database");
    }
    const std::int64_t shards = format.integer(0, 2);
    if (shards < 1) return refuse(foreign);
    setup.learn_shards(static_cast<std::size_t>(shards));
    return {cluster::Answer{cluster::Done{}}};
  };
  return read;
}

std::string milliseconds(Duration duration) {
  return std::to_string(duration.count());
}

}  // namespace

Round set_up(const Setup& setup) {
  Round first;
  // What is acknowledged must be durable, whatever the default of the database.
  first.commands.push_back(
      {"SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),"
       " set_config('idle_in_transaction_session_timeout', $3, false),"
       " set_config('default_transaction_isolation', 'read committed', false),"
       " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
       " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),"
       " set_config('search_path', 'pg_catalog', false),"
       " set_config('bytea_output', 'hex', false), set_config('jit', 'off', false)",
       Parameters{}
           .add_text(milliseconds(setup.timeouts.statement))
           .add_text(milliseconds(setup.timeouts.lock))
           .add_text(milliseconds(setup.timeouts.idle_in_transaction))});
  first.commands.push_back(
      {"SELECT to_regnamespace('dutiful') IS NOT NULL,"
       " to_regclass('dutiful.format') IS NOT NULL,"
       " (SELECT count(*) FROM pg_attribute"
       " WHERE attrelid = to_regclass('dutiful.format')"
       " AND attname IN ('mark', 'version', 'shards'))"});
  first.then = [setup](const Results& results) -> Outcome {
    const Result& seen = results[1];
    if (!seen.boolean(0, 0)) return {make_tables(setup)};
    if (!seen.boolean(0, 1) || seen.integer(0, 2) != 3) return refuse(foreign);
    return {read_format(setup)};
  };
  return first;
}

}  // namespace dutiful::postgres
