#include "store/sqlite/state_format.h"

#include <array>

#include "store/sqlite/state_file.h"

namespace dutiful {
namespace {

// Version 1. Texts are in a table of their own, so that a run rewrites few bytes.
constexpr const char* schema = R"(
  CREATE TABLE scheduler (
    id INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE
  );
  CREATE TABLE task (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    cron TEXT NOT NULL,
    retry_delay_ms INTEGER NOT NULL
  );
  CREATE TABLE progress (
    task INTEGER PRIMARY KEY REFERENCES task (id),
    scheduler INTEGER NOT NULL REFERENCES scheduler (id),
    state INTEGER NOT NULL,
    boot_pending INTEGER NOT NULL,
    orphan_pending INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    pulse INTEGER,
    first_coming INTEGER,
    served_until INTEGER,
    last_attempt INTEGER,
    last_success INTEGER,
    last_failure INTEGER,
    pending_retry_until INTEGER
  );
)";

// Version 1 did not distinguish retries from restarts after a crash: all of them count as retries.
// Its runs had no fence; any number smaller than those to come will do. A scheduler's fence is the
// newest one that any run had when it took over the list.
constexpr const char* from_version_1 = R"(
  ALTER TABLE scheduler ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN recurrence INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN recurs_until INTEGER;
  UPDATE progress SET retries = max(attempt - 1, 0), fence = min(attempt, 1) WHERE attempt > 0;
)";

// Version 2 had no accounts. The sums of the open stretch are in the record of the task, because
// almost every start changes them. An account that has not begun has no account_from.
constexpr const char* from_version_2 = R"(
  ALTER TABLE progress ADD COLUMN account_from INTEGER;
  ALTER TABLE progress ADD COLUMN account_number INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_run INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_running INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_down INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_asleep INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_limit INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_store INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_retry INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_orphan INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE progress ADD COLUMN pulses_recurred INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE account (
    task INTEGER NOT NULL REFERENCES task (id),
    number INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    pulses_run INTEGER NOT NULL,
    pulses_running INTEGER NOT NULL,
    pulses_down INTEGER NOT NULL,
    pulses_asleep INTEGER NOT NULL,
    pulses_limit INTEGER NOT NULL,
    pulses_store INTEGER NOT NULL,
    pulses_retry INTEGER NOT NULL,
    pulses_orphan INTEGER NOT NULL,
    pulses_recurred INTEGER NOT NULL,
    PRIMARY KEY (task, number)
  ) WITHOUT ROWID;
)";

constexpr std::array steps{schema, from_version_1, from_version_2};

}  // namespace

constexpr Database::Format state_format{
    .mark = state_mark,
    .steps = steps,
    .foreign = "is a database of another program; use another file",
    .remedy = "use that version or another file"};

}  // namespace dutiful
