// The columns of a record, and how they are written and read.
#pragma once

#include <array>
#include <string>

#include "cluster/database.h"
#include "postgres/parameters.h"
#include "postgres/result.h"

namespace dutiful::postgres {

// What each entry of the journal carries, and each record: the runner and the progress.
struct Column {
  const char* name;
  const char* type;
};
inline constexpr std::array progress_columns{Column{"runner", "bigint"},
                                             Column{"state", "smallint"},
                                             Column{"boot_pending", "boolean"},
                                             Column{"orphan_pending", "boolean"},
                                             Column{"attempt", "bigint"},
                                             Column{"retries", "bigint"},
                                             Column{"fence", "bigint"},
                                             Column{"recurrence", "bigint"},
                                             Column{"pulse", "bigint"},
                                             Column{"first_coming", "bigint"},
                                             Column{"served_until", "bigint"},
                                             Column{"last_attempt", "bigint"},
                                             Column{"last_success", "bigint"},
                                             Column{"last_failure", "bigint"},
                                             Column{"retry_at", "bigint"},
                                             Column{"recurs_until", "bigint"}};

// "runner, state, …", each after the prefix.
[[nodiscard]] std::string progress_list(const std::string& prefix = {});
// "$4::bigint[], $5::smallint[], …", for unnest().
[[nodiscard]] std::string progress_arrays(int first);

// Collects the progress of many tasks.
class ProgressArrays {
 public:
  void add(cluster::MemberId runner, const TaskProgress& progress);
  void add_to(Parameters& parameters) const;

 private:
  std::array<Array, progress_columns.size()> columns_;
};

// The numbers of an account, in this order: from, number, the fates, recurred. Stored, so never
// changed.
[[nodiscard]] Array account_numbers(const Account& account);

// The end of the journal that is not yet in the records, by task and sequence.
inline constexpr const char* journal_tail =
    "dutiful.shard s JOIN dutiful.journal j ON j.shard = s.id AND j.seq > s.folded";

// Selects the records of the shards for which the condition on "t" holds, and the newest of what
// the record and the journal know. Read by read_record(), from a column on.
[[nodiscard]] std::string select_records(const std::string& columns, const std::string& from);
inline constexpr int record_column_count = 5 + static_cast<int>(progress_columns.size());

// Throws a TaskTryDeserializeError for a record that no member can have written (RULES P7).
[[nodiscard]] cluster::Record read_record(const Result& result, int row, int column);

}  // namespace dutiful::postgres
