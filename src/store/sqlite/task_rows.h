// The rows of a state as records of tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "account/account.h"
#include "core/plan.h"
#include "store/sqlite/statement.h"

namespace dutiful {

class Database;

// Binds the fields of a progress in the order of the schema.
void bind_progress(Statement& statement, int parameter, const TaskProgress& progress);

// Binds the fields of an open account in the order of the schema.
void bind_account(Statement& statement, int parameter, const Account& account);

// Overwrites the progress of a task, and its account if that changes too.
class ProgressUpdate {
 public:
  explicit ProgressUpdate(const Database& database);

  // Returns false, and changes nothing, if the state has no such row.
  [[nodiscard]] bool run(std::int64_t row,
                         const TaskProgress& progress,
                         std::int64_t scheduler,
                         const Account* account);

 private:
  const Database* database_;
  Statement update_;
  Statement update_with_account_;
};

// Records stretches of accounts that have ended, and forgets the oldest ones.
class StretchInsert {
 public:
  explicit StretchInsert(const Database& database);
  void run(std::int64_t row, const AccountStretch& stretch);

 private:
  Statement insert_;
  Statement forget_;
};

// Calls visit(row, stretch) for every stretch that has ended, or those of one task, in the order of
// rows and numbers. A state of an earlier version has none. Throws the errors of RULES P7 for a
// damaged one.
using VisitStretch = std::function<void(std::int64_t row, const AccountStretch& stretch)>;
void read_stretches(const Database& database,
                    std::int64_t version,
                    std::optional<std::int64_t> row,
                    const VisitStretch& visit);

// The schedulers that records name by number. There are few of them, and each is read once.
class Schedulers {
 public:
  explicit Schedulers(const Database& database);

  // Throws a TaskTryDeserializeError about the task if there is no such scheduler.
  [[nodiscard]] const std::string& identifier(std::int64_t number, const std::string& task);

  // The numbers asked for so far.
  [[nodiscard]] std::set<std::int64_t> numbers() const;

 private:
  Statement select_;
  std::map<std::int64_t, std::string> identifiers_;
};

// Reads all records of a state of that version, in the order of their rows. Throws the errors of
// RULES P7 for a damaged one. The caller keeps a Snapshot.
[[nodiscard]] std::vector<TaskRecord> read_records(const Database& database,
                                                   Schedulers& schedulers,
                                                   std::int64_t version);

// Reads the newest fence that any run has had.
[[nodiscard]] std::uint64_t read_fence(const Database& database);

}  // namespace dutiful
