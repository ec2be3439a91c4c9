#include "store/sqlite/database.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/private_file.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/state_file.h"
#include "store/sqlite/statement.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// Far longer than any value that is ever written. SQLite refuses to read longer ones.
constexpr int value_size_max = 4 * 1024 * 1024;

// Whether a COMMIT that failed with this code has certainly not written its commit mark: it takes
// its locks before it writes, and writes the mark last.
bool wrote_no_mark(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL:
    case SQLITE_FULL:
      return true;
    default:
      return code == SQLITE_IOERR_WRITE;
  }
}

std::string uri_of(const std::string& path) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', digits[byte >> 4U], digits[byte & 15U]};
    } else {
      uri += c;
    }
  }
  return uri;
}

// Why a file cannot be read, which SQLite does not report; empty if it can. Does not open the file,
// because closing it again would release SQLite's locks.
std::string unreadable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return "does not exist; give the state that dutiful run uses";
    }
    const bool forbidden = errno == EACCES;
    return std::string{"cannot be read: "} + std::strerror(errno) +
           (forbidden ? "; check the permissions of the directories above it"
                      : "; give the state that dutiful run uses");
  }
  if (std::string reason = why_no_file(path); !reason.empty()) return reason;
  // Even if its mode lets others read it: SQLite would lock it for them, and create files beside it
  // that its owner could not use.
  if (geteuid() != 0 && geteuid() != status.st_uid) {
    const std::string owner = user_name(status.st_uid);
    return "belongs to " + owner + " and cannot be read by " + user_name(geteuid()) +
           "; run this command as " + (status.st_uid == 0 ? owner : owner + " or root");
  }
  if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0) return "";
  return std::string{"cannot be read: "} + std::strerror(errno) + "; check its permissions";
}

bool holds_anything(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

}  // namespace

void Database::Closer::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

Database::Database(std::string path, Access access, Duration busy_timeout)
    : path_(std::move(path)), busy_timeout_(busy_timeout) {
  if (access == Access::read_write) {
    open_to_write(SQLITE_OPEN_CREATE);
  } else {
    open_to_read();
  }
}

void Database::reopen() {
  handle_.reset();
  open_to_write(0);
}

void Database::open_to_write(int flags) {
  const bool has_log = holds_anything(path_ + "-wal");
  check(open(path_, SQLITE_OPEN_READWRITE | flags));
  leave_log(has_log);
}

void Database::open_to_read() {
  if (const std::string reason = unreadable(path_); !reason.empty()) {
    throw DatabaseError(path_, reason);
  }
  check(open(path_, SQLITE_OPEN_READONLY));
  const int code =
      sqlite3_exec(handle_.get(), "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr);
  const bool refused = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
  if (!refused) return;
  // A reader that may not write to the directory cannot create the files that SQLite shares among
  // processes. If the log is empty and no process holds the state, it needs none.
  const std::string file = resolve_state(path_);  // SQLite's files are beside the link's target
  const std::string log = file + "-wal";
  const HolderStatus status = read_holder_status(file);
  if (status.answer == HolderStatus::Answer::free && !holds_anything(log)) {
    check(open(uri_of(path_) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
    return;
  }
  // It has a log, and SQLite reads a log only through its index.
  std::error_code error;
  std::string reason = status.answer == HolderStatus::Answer::unknown
                           ? status.trouble
                           : "its log has no index, and this directory is not writable; copy " +
                                 quote(file) + " and " + quote(log) +
                                 " to a writable directory and read them there";
  for (const std::string& beside : {log, file + "-shm"}) {
    if (!std::filesystem::exists(beside, error)) continue;
    if (const std::string why = unreadable(beside); !why.empty()) {
      reason = quote(beside) + ", which belongs to it, " + why;
      break;
    }
  }
  throw DatabaseError(path_, "cannot be read: " + reason);
}

int Database::open(const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);
  if (handle == nullptr) return code;
  sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout_.count()));
  // Code that others may have put into the file never runs.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int trust : {SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                          SQLITE_DBCONFIG_ENABLE_TRIGGER,
                          SQLITE_DBCONFIG_ENABLE_VIEW}) {
    sqlite3_db_config(handle, trust, 0, nullptr);
  }
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, value_size_max);
  return code;
}

void Database::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  throw DatabaseError(
      path_, reason_of(code, handle_.get()), kind_of(code), cause_of(code, handle_.get()));
}

void Database::refuse_as_damaged() const {
  throw DatabaseError(path_, reason_of(SQLITE_CORRUPT), DatabaseError::Kind::damaged);
}

std::int64_t Database::check_format(const Format& format) const {
  // Another process may be creating the file now. It sets all of this in one transaction.
  const Snapshot snapshot{*this};
  const std::int64_t mark = integer("PRAGMA application_id");
  const std::int64_t tables = integer("SELECT count(*) FROM sqlite_schema");
  const std::int64_t version = integer("PRAGMA user_version");
  const bool unused = mark == 0 && tables == 0 && version == 0;
  if (mark != format.mark && !unused) throw DatabaseError(path_, format.foreign);
  if (version > format.version()) {
    throw DatabaseError(path_,
                        "was written by a newer dutiful (schema " + std::to_string(version) +
                            "; this version supports " + std::to_string(format.version()) + "); " +
                            format.remedy);
  }
  const auto refuse = [&](const std::string& what) {
    throw DatabaseError(path_,
                        "was changed by another program or not made by dutiful: " + what +
                            "; restore it from a backup or use another file",
                        DatabaseError::Kind::damaged);
  };
  if (text("PRAGMA encoding") != "UTF-8") refuse("its text is not UTF-8");
  if (!has_tables_of(format, version)) refuse("its tables are not those of dutiful");
  leave_log(false);
  return version;
}

bool Database::has_tables_of(const Format& format, std::int64_t version) const {
  if (version < 0) return false;
  Database made{":memory:"};
  for (const char* step : format.steps.first(static_cast<std::size_t>(version))) made.execute(step);
  return parts_of(*this) == parts_of(made);
}

// Whether closing leaves the log as it is: a log of another program must not be moved into its
// database.
void Database::leave_log(bool leave) const {
  sqlite3_db_config(
      handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, static_cast<int>(leave), nullptr);
}

void Database::migrate(const Format& format, std::int64_t version) {
  if (version == format.version()) return;
  Transaction transaction{*this};
  for (const char* step : format.steps.subspan(static_cast<std::size_t>(version))) execute(step);
  execute(("PRAGMA application_id = " + std::to_string(format.mark)).c_str());
  execute(("PRAGMA user_version = " + std::to_string(format.version())).c_str());
  transaction.commit();
}

void Database::execute(const char* sql) {
  check(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

void Database::commit() {
  const int code = sqlite3_exec(handle_.get(), "COMMIT", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) {
    in_doubt_ = false;
    return;
  }
  auto cause = cause_of(code, handle_.get());
  std::string reason = reason_of(code, handle_.get());
  // Fails if SQLite has already rolled back, as it usually has.
  (void)sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (!wrote_no_mark(code)) in_doubt_ = true;
  if (in_doubt_) overwrite_failed_commit();
  if (!in_doubt_) throw DatabaseError(path_, reason, kind_of(code), std::move(cause));
  throw DatabaseError(
      path_,
      reason + "; it is unknown whether the change was made; check the disk and try again",
      DatabaseError::Kind::in_doubt,
      std::move(cause));
}

// A COMMIT that fails after its pages are in the log, for example because they cannot be synced, is
// undone only in memory: recovery after a crash finds the pages and their commit mark. The next
// transaction overwrites the first of them, and each page's checksum continues the one before it.
// So this transaction, which changes nothing, makes the failure certain.
void Database::overwrite_failed_commit() noexcept {
  try {
    execute("BEGIN IMMEDIATE");
    const std::int64_t version = integer("PRAGMA user_version");
    execute(("PRAGMA user_version = " + std::to_string(version)).c_str());  // writes the first page
    execute("COMMIT");
    in_doubt_ = false;
  } catch (const std::exception&) {
    (void)sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

int Database::changes() const {
  return sqlite3_changes(handle_.get());
}

void Database::shrink_log() noexcept {
  sqlite3_busy_timeout(handle_.get(), 0);
  sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(busy_timeout_.count()));
}

std::int64_t Database::integer(std::string_view sql) const {
  Statement statement{*this, sql};
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(std::string_view sql) const {
  Statement statement{*this, sql};
  return statement.step() ? statement.text(0) : "";
}

Snapshot::Snapshot(const Database& database) : database_(database) {
  database_.check(sqlite3_exec(database_.handle_.get(), "BEGIN", nullptr, nullptr, nullptr));
}
Snapshot::~Snapshot() {
  sqlite3_exec(database_.handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has already rolled back, as it does when the disk is full.
  }
}

void Transaction::commit() {
  open_ = false;
  database_.commit();
}

}  // namespace dutiful
