#include "daemon/failure_file.h"

#include <array>

#include <fcntl.h>

#include "files/private_file.h"
#include "store/sqlite/state_file.h"
#include "store/sqlite/statement.h"

namespace dutiful {
namespace {

constexpr const char* schema = R"(
  CREATE TABLE streak (
    task TEXT PRIMARY KEY NOT NULL,
    failures INTEGER NOT NULL,
    notified INTEGER NOT NULL
  ) WITHOUT ROWID;
)";

// "dutf".
constexpr std::array steps{schema};
constexpr Database::Format format{.mark = 0x64757466,
                                  .steps = steps,
                                  .foreign = "is not a file of dutiful; move it away",
                                  .remedy = "move it away"};

const std::string& make_private(const std::string& path) {
  (void)open_or_make_private(path, O_RDWR);  // if it cannot be opened, SQLite says why
  check_private(path + "-journal", Demand::ours_alone);
  return path;
}

}  // namespace

std::string failures_of(const std::string& state) {
  return file_beside(state, "-failures");
}

FailureFile::FailureFile(const std::string& path)
    : identity_(identity_of(make_private(path))), database_(path) {
  database_.migrate(format, database_.check_format(format));
}

bool FailureFile::is_there() const {
  return identity_of(database_.path()) == identity_;
}

FailureStreaks FailureFile::read() const {
  FailureStreaks streaks;
  Statement row{database_, "SELECT task, failures, notified FROM streak"};
  while (row.step()) {
    const bool is_ours = row.is_text(0) && row.is_integer(1) && row.is_integer(2) &&
                         row.integer(1) >= 1 && row.integer(1) <= notify_after_max &&
                         (row.integer(2) == 0 || row.integer(2) == 1);
    if (!is_ours) database_.refuse_as_damaged();
    streaks[row.text(0)] = {.failures = static_cast<std::uint32_t>(row.integer(1)),
                            .is_notified = row.integer(2) != 0};
  }
  return streaks;
}

void FailureFile::write(const FailureStreaks& streaks) {
  Statement put{database_, "INSERT OR REPLACE INTO streak VALUES (?1, ?2, ?3)"};
  Statement remove{database_, "DELETE FROM streak WHERE task = ?1"};
  Transaction transaction{database_};
  for (const auto& [task, streak] : streaks) {
    Statement& statement = streak.failures == 0 ? remove : put;
    statement.bind(0, task);
    if (streak.failures > 0) {
      statement.bind(1, std::int64_t{streak.failures});
      statement.bind(2, std::int64_t{streak.is_notified ? 1 : 0});
    }
    statement.run();
  }
  transaction.commit();
}

}  // namespace dutiful
