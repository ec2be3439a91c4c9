// The rows of a state as records of tasks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/plan.h"
#include "store/sqlite/statement.h"

namespace dutiful {

class Database;

// Binds the fields of a progress in the order of the schema.
void bind_progress(Statement& statement, int parameter, const TaskProgress& progress);

// Overwrites the progress of a task.
class ProgressUpdate {
 public:
  explicit ProgressUpdate(const Database& database);

  // Returns false, and changes nothing, if the state has no such row.
  [[nodiscard]] bool run(std::int64_t row, const TaskProgress& progress, std::int64_t scheduler);

 private:
  const Database* database_;
  Statement update_;
};

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

// Reads all records of a state of that version. Throws the errors of RULES P7 for a damaged one.
[[nodiscard]] std::vector<TaskRecord> read_records(const Database& database,
                                                   Schedulers& schedulers,
                                                   std::int64_t version);

// Reads the newest fence that any run has had.
[[nodiscard]] std::uint64_t read_fence(const Database& database);

}  // namespace dutiful
