#include "store/sqlite/database_error.h"

#include <cerrno>
#include <stdexcept>

#include <sqlite3.h>

#include "store/sqlite/state_file.h"

namespace dutiful {
namespace {

// SQLite's messages are for programmers. These say what to do.
std::string reason_by_code(int code) {
  const std::string number = "(SQLite error " + std::to_string(code) + ")";
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "cannot be written: the disk is full; make room";
    case SQLITE_READONLY:
      return "cannot be written: it is read-only; check its permissions and those of its directory";
    case SQLITE_CANTOPEN:
      return "cannot be opened; check that its directory exists and is writable";
    case SQLITE_NOTADB:
      return no_database;
    case SQLITE_CORRUPT:
      return "is damaged; restore it from a backup or move it away to start over";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "has been locked by another process for too long; stop the program that writes to it";
    case SQLITE_IOERR:
      return "cannot be read or written: the disk reports an error";
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "cannot be accessed: permission denied; check its permissions";
    case SQLITE_NOMEM:
      return "cannot be accessed: memory is exhausted";
    case SQLITE_PROTOCOL:
      return "cannot be locked: the file system reports an error; check the disk or the "
             "file server";
    case SQLITE_TOOBIG:
      return "is damaged: a value in it is too long; restore it from a backup or move it away to "
             "start over";
    case SQLITE_ERROR:  // a table or a column that is not there
      return "is damaged, or another program has changed it " + number +
             "; restore it from a backup or move it away to start over";
    case SQLITE_CONSTRAINT:
      return "was changed by another program while in use " + number +
             "; restart to continue with its current contents";
    default:
      return "cannot be accessed " + number;
  }
}

}  // namespace

std::string reason_of(int code, sqlite3* connection) {
  const int error = connection == nullptr ? 0 : sqlite3_system_errno(connection);
  const int kind = code & 0xff;
  if (kind == SQLITE_CANTOPEN && (error == EMFILE || error == ENFILE)) {
    return "cannot be opened: too many files are open; raise the limit (ulimit -n)";
  }
  if (kind == SQLITE_IOERR && error == EFBIG) {
    return "cannot be written: it has reached the file size limit; raise the limit (ulimit -f)";
  }
  return reason_by_code(code);
}

std::exception_ptr cause_of(int code, sqlite3* connection) {
  const char* text = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  return std::make_exception_ptr(
      std::runtime_error("SQLite error " + std::to_string(code) + ": " + text));
}

DatabaseError::Kind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // a table or a column is missing
      return DatabaseError::Kind::damaged;
    case SQLITE_TOOBIG:
      return DatabaseError::Kind::too_long;
    default:
      return DatabaseError::Kind::other;
  }
}

}  // namespace dutiful
