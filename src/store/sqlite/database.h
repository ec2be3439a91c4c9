// A connection to SQLite that closes itself and checks every result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <dutiful/time.h>

#include "store/sqlite/database_error.h"

struct sqlite3;

namespace dutiful {

// Every failure is a DatabaseError.
class Database {
 public:
  enum class Access {
    read_write,  // creates the file if it does not exist
    read_only,   // changes nothing; only for the file's owner and root; needs only read permission
  };
  // Each operation waits up to `busy_timeout` for another process that is writing.
  explicit Database(std::string path,
                    Access access = Access::read_write,
                    Duration busy_timeout = std::chrono::seconds{5});

  // Closes the connection and opens another one for writing. The file must exist, and no Statement
  // may be left. If it throws, there is no connection: only reopen and the destructor may follow.
  void reopen();

  void execute(const char* sql);
  [[nodiscard]] std::int64_t integer(std::string_view sql) const;
  [[nodiscard]] std::string text(std::string_view sql) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  // How many rows the last statement changed.
  [[nodiscard]] int changes() const;

  // What the file must contain. check_format rejects a file of another program by its mark and a
  // file of a newer dutiful by its version. It also rejects a file whose tables differ from those
  // that the steps make: a view or a trigger in it would run the code of others.
  struct Format {
    std::int64_t mark;  // application_id. Stored, so never changed.
    // The SQL that turns each version into the next; the first step makes version 1. Files of every
    // version exist, so steps are added and never changed.
    std::span<const char* const> steps;
    const char* foreign;  // the reason given for a file of another program
    const char* remedy;   // what to do with a file that is too new

    [[nodiscard]] constexpr std::int64_t version() const {
      return static_cast<std::int64_t>(steps.size());
    }
  };
  // Returns the version of the file, 0 for a new one.
  [[nodiscard]] std::int64_t check_format(const Format& format) const;
  // Brings a file of that version to the newest one.
  void migrate(const Format& format, std::int64_t version);

  // Truncates the write-ahead log that a large transaction has left, unless someone is reading it.
  void shrink_log() noexcept;

  // Throws unless the code means success.
  void check(int code) const;
  // Throws the error of a corrupt file.
  [[noreturn]] void refuse_as_damaged() const;

 private:
  friend class Snapshot;
  friend class Statement;
  friend class Transaction;
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  int open(const std::string& name, int flags);
  void leave_log(bool leave) const;
  [[nodiscard]] bool has_tables_of(const Format& format, std::int64_t version) const;
  void open_to_write(int flags);
  void open_to_read();
  void commit();
  void overwrite_failed_commit() noexcept;

  std::string path_;
  Duration busy_timeout_;
  std::unique_ptr<sqlite3, Closer> handle_;
  // A failed transaction may be complete in the log, so that recovery would take it as committed.
  bool in_doubt_ = false;
};

// Everything read during its life comes from one state of the database.
class Snapshot {
 public:
  explicit Snapshot(const Database& database);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  const Database& database_;
};

// All or nothing. The destructor rolls back unless commit was called.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // If it throws, nothing has changed, unless the error is in doubt.
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace dutiful
