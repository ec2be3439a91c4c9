// SQLite, as far as the store needs it: handles that close themselves, results that are checked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <dutiful/errors.h>
#include <dutiful/time.h>

struct sqlite3;
struct sqlite3_stmt;

namespace dutiful {

class Database;

// A prepared statement. Parameters and columns count from 0.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::string_view text);  // which must live until the step
  void bind_bytes(int parameter, std::string_view bytes);
  void bind_null(int parameter);

  // Runs to the next row; false where there is none left, and then it can be bound and run again.
  bool step();
  // Runs a statement that returns no row.
  void run();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::string type_name(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::size_t size(int column) const;  // of a text, in bytes

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
};

// What a database throws: for one that is no state, there may be more to say.
class DatabaseError : public StoreError {
 public:
  enum class Kind {
    other,
    damaged,   // what the file holds is at fault
    too_long,  // a value in it is longer than any that was written
    in_doubt,  // a transaction may or may not have happened
  };
  DatabaseError(const std::string& file,
                std::string reason,
                Kind kind = Kind::other,
                std::exception_ptr cause = nullptr)
      : StoreError(file, std::move(reason), std::move(cause)), kind_(kind) {}
  [[nodiscard]] bool in_doubt() const noexcept override { return kind_ == Kind::in_doubt; }
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// A connection. Every failure is a DatabaseError that names the file, says what is the matter in
// words that help, and holds no SQL. Its cause has SQLite's own words.
class Database {
 public:
  // The first makes the file where there is none; the second changes nothing, is only for the owner
  // of the file and for root, and needs no more than the right to read.
  enum class Access { read_write, read_only };
  // Waits so long for others that keep it from writing or from a checkpoint.
  explicit Database(std::string path,
                    Access access = Access::read_write,
                    Duration busy_timeout = std::chrono::seconds{5});

  // Closes the connection and opens another, to write to a file that is there. Statements must be
  // gone by then. Where it throws, there is none, and this can only be reopened or destroyed.
  void reopen();

  void execute(const char* sql);
  [[nodiscard]] std::int64_t integer(std::string_view sql) const;
  [[nodiscard]] std::string text(std::string_view sql) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  // How many rows the last statement changed.
  [[nodiscard]] int changes() const;

  // A file of another program that happens to be in the way is refused by its mark, and one of a
  // dutiful that is newer than this by the version of its tables. So is one whose tables are not
  // exactly those that the steps make: a view or a trigger would have us run what others wrote.
  struct Format {
    std::int64_t mark;  // application_id. Stored, so never changed.
    // The SQL that makes each version of the one before; the first makes version 1 of nothing.
    // Files of every version are about, so a step is never changed, only added.
    std::span<const char* const> steps;
    const char* foreign;  // what is said of another's file
    const char* remedy;   // of one that is too new

    [[nodiscard]] constexpr std::int64_t version() const {
      return static_cast<std::int64_t>(steps.size());
    }
  };
  // The version that the file has; 0 where it is new.
  [[nodiscard]] std::int64_t check_format(const Format& format) const;
  // Makes the newest version of that one.
  void migrate(const Format& format, std::int64_t version);

  // Gives back what a large transaction has left of the write-ahead log, unless somebody reads it.
  void shrink_log() noexcept;

  // Throws unless the code says that all is well.
  void check(int code) const;
  // Throws as SQLite does where it finds that itself.
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
  void settle() noexcept;

  std::string path_;
  Duration busy_timeout_;
  std::unique_ptr<sqlite3, Closer> handle_;
  // A transaction that failed may have left in the log what whoever recovers it takes for one that
  // happened.
  bool unsettled_ = false;
};

// While one lives, all that is read is of one moment.
class Snapshot {
 public:
  explicit Snapshot(const Database& database);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  const Database& database_;
};

// All or nothing: what is not committed when it is destroyed has not happened.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // If it throws, nothing has happened, unless the error says that this is in doubt.
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace dutiful
