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
#include "text/quote.h"

namespace dutiful {
namespace {

// No value that is written comes near it. What is longer is not even read.
constexpr int value_size_max = 4 * 1024 * 1024;

// SQLite's own words are for programmers; these say what to do.
std::string reason_of(int code) {
  const std::string number = "(SQLite error " + std::to_string(code) + ")";
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "cannot be written: the disk is full; make room";
    case SQLITE_READONLY:
      return "cannot be written: it is read-only; check its permissions and those of its directory";
    case SQLITE_CANTOPEN:
      return "cannot be opened; check that its directory exists and may be written";
    case SQLITE_NOTADB:
      return no_database;
    case SQLITE_CORRUPT:
      return "is damaged; restore it from a backup, or move it away to start anew";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "is locked by another process for too long; end what is writing to it";
    case SQLITE_IOERR:
      return "cannot be read or written: the disk reports an error";
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "may not be accessed; check its permissions";
    case SQLITE_NOMEM:
      return "cannot be accessed: memory is exhausted";
    case SQLITE_PROTOCOL:
      return "cannot be locked: the file system reports an error; check the disk or the server "
             "that "
             "it is on";
    case SQLITE_TOOBIG:
      return "is damaged: a value in it is too long; restore it from a backup, or move it away to "
             "start anew";
    case SQLITE_ERROR:  // a table or a column that is not there
      return "is damaged, or another program has changed it " + number +
             "; restore it from a backup, or move it away to start anew";
    case SQLITE_CONSTRAINT:
      return "was changed by another program while in use " + number +
             "; restart to go on with what is there now";
    default:
      return "cannot be accessed " + number;
  }
}

// To SQLite a file that cannot be opened or written is just that; the host may know why.
std::string reason_of(int code, sqlite3* handle) {
  const int error = handle == nullptr ? 0 : sqlite3_system_errno(handle);
  const int kind = code & 0xff;
  if (kind == SQLITE_CANTOPEN && (error == EMFILE || error == ENFILE)) {
    return "cannot be opened: too many files are open; raise the limit (ulimit -n)";
  }
  if (kind == SQLITE_IOERR && error == EFBIG) {
    return "cannot be written: it may not grow any more; raise the limit (ulimit -f)";
  }
  return reason_of(code);
}

// SQLite's own words.
std::exception_ptr cause_of(int code, sqlite3* handle) {
  const char* text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  return std::make_exception_ptr(
      std::runtime_error("SQLite error " + std::to_string(code) + ": " + text));
}

// A table that is not as it should be is only "an error" to SQLite.
DatabaseError::Kind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
      return DatabaseError::Kind::damaged;
    case SQLITE_TOOBIG:
      return DatabaseError::Kind::too_long;
    default:
      return DatabaseError::Kind::other;
  }
}

// Whether a COMMIT that failed so has surely not written the mark that makes a transaction count:
// it takes its locks before it writes anything, and that mark is the last it writes.
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

// Why a file cannot be read, which SQLite does not tell; empty where it can. Opens nothing: to
// close it again would take away SQLite's locks.
std::string unreadable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return "does not exist; give the one that dutiful run uses";
    }
    const bool forbidden = errno == EACCES;
    return std::string{"cannot be read: "} + std::strerror(errno) +
           (forbidden ? "; check the permissions of the directories above it"
                      : "; give the one that dutiful run uses");
  }
  if (std::string reason = why_no_file(path); !reason.empty()) return reason;
  // Also where its mode would let others read it: SQLite would make files for them beside it that
  // its owner could not use, and lock it.
  if (geteuid() != 0 && geteuid() != status.st_uid) {
    const std::string owner = user_name(status.st_uid);
    return "belongs to " + owner + ", and may not be read by " + user_name(geteuid()) +
           "; run this as " + (status.st_uid == 0 ? owner : owner + " or root");
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
void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
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
  // A reader who may not write the directory cannot make the files that SQLite shares among
  // processes. Where nothing is in the log and nobody at work, it can do without.
  const std::string file = resolve_state(path_);  // SQLite's files are beside what a link leads to
  const std::string log = file + "-wal";
  const Service service = read_service(file);
  if (service.answer == Service::Answer::free && !holds_anything(log)) {
    check(open(uri_of(path_) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI));
    return;
  }
  // It has a log, and SQLite reads one only together with its index.
  std::error_code error;
  std::string reason = service.answer == Service::Answer::unknown
                           ? service.trouble
                           : "its log has no index, and none can be made in this directory; copy " +
                                 quote(file) + " and " + quote(log) +
                                 " to one that may be written, and look there";
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
  // What others may have written into the file is read, and never run.
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
  // Another process may be making the file at this moment, which sets all of this in one go.
  const Snapshot snapshot{*this};
  const std::int64_t mark = integer("PRAGMA application_id");
  const std::int64_t tables = integer("SELECT count(*) FROM sqlite_schema");
  const std::int64_t version = integer("PRAGMA user_version");
  const bool unused = mark == 0 && tables == 0 && version == 0;
  if (mark != format.mark && !unused) throw DatabaseError(path_, format.foreign);
  if (version > format.version()) {
    throw DatabaseError(path_,
                        "was written by a newer dutiful (schema " + std::to_string(version) +
                            ", this one knows " + std::to_string(format.version()) + "); " +
                            format.remedy);
  }
  const auto refuse = [&](const std::string& what) {
    throw DatabaseError(path_,
                        "was changed by another program, or is not from dutiful: " + what +
                            "; restore it from a backup, or use another file",
                        DatabaseError::Kind::damaged);
  };
  if (text("PRAGMA encoding") != "UTF-8") refuse("its texts are not in UTF-8");
  if (!has_tables_of(format, version)) refuse("its tables are not as dutiful makes them");
  leave_log(false);
  return version;
}

bool Database::has_tables_of(const Format& format, std::int64_t version) const {
  if (version < 0) return false;
  Database made{":memory:"};
  for (const char* step : format.steps.first(static_cast<std::size_t>(version))) made.execute(step);
  return parts_of(*this) == parts_of(made);
}

// On closing. What is in the log of another program is not ours to move into its database.
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
    unsettled_ = false;
    return;
  }
  auto cause = cause_of(code, handle_.get());
  std::string reason = reason_of(code, handle_.get());
  // Fails if SQLite has done it by itself, as it mostly does.
  (void)sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (!wrote_no_mark(code)) unsettled_ = true;
  if (unsettled_) settle();
  if (!unsettled_) throw DatabaseError(path_, reason, kind_of(code), std::move(cause));
  throw DatabaseError(
      path_,
      reason + "; the change may or may not have happened; check the disk, and try again",
      DatabaseError::Kind::in_doubt,
      std::move(cause));
}

// A COMMIT that fails once its pages are in the log, as when they cannot be synced, is undone in
// memory only: whoever recovers the log after a crash finds the pages and their mark. The next
// transaction is written over them, and each page of the log vouches for the one before it; so this
// one, which changes nothing, makes the failure certain.
void Database::settle() noexcept {
  try {
    execute("BEGIN IMMEDIATE");
    const std::int64_t version = integer("PRAGMA user_version");
    execute(("PRAGMA user_version = " + std::to_string(version)).c_str());  // writes the first page
    execute("COMMIT");
    unsettled_ = false;
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

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  database.check(sqlite3_prepare_v3(database.handle_.get(),
                                    sql.data(),
                                    static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT,
                                    &handle,
                                    nullptr));
  handle_.reset(handle);
}

void Statement::bind(int parameter, std::int64_t value) {
  database_->check(sqlite3_bind_int64(handle_.get(), parameter + 1, value));
}
void Statement::bind(int parameter, std::string_view text) {
  database_->check(sqlite3_bind_text64(
      handle_.get(), parameter + 1, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Statement::bind_bytes(int parameter, std::string_view bytes) {
  database_->check(
      sqlite3_bind_blob64(handle_.get(), parameter + 1, bytes.data(), bytes.size(), SQLITE_STATIC));
}
void Statement::bind_null(int parameter) {
  database_->check(sqlite3_bind_null(handle_.get(), parameter + 1));
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(handle_.get());
  database_->check(code);
  return false;
}

void Statement::run() {
  (void)step();
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_INTEGER;
}
bool Statement::is_text(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_TEXT;
}

std::string Statement::type_name(int column) const {
  switch (sqlite3_column_type(handle_.get(), column)) {
    case SQLITE_INTEGER:
      return "integer";
    case SQLITE_FLOAT:
      return "real";
    case SQLITE_TEXT:
      return "text";
    case SQLITE_BLOB:
      return "blob";
    default:
      return "null";
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return bytes == nullptr ? std::string{} : std::string{bytes, size};
}

std::size_t Statement::size(int column) const {
  return static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
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
    // SQLite has rolled back by itself, as it does after a full disk.
  }
}

void Transaction::commit() {
  open_ = false;
  database_.commit();
}

}  // namespace dutiful
