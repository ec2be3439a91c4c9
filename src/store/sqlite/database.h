// SQLite, as far as the store needs it: handles that close themselves, results that are checked.
#pragma once

#include <cstdint>
#include <memory>
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
  enum class Kind { other, damaged };  // the second: what the file holds is at fault
  DatabaseError(const std::string& file, std::string reason, Kind kind = Kind::other)
      : StoreError(file, std::move(reason)), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// A connection. Every failure is a DatabaseError that names the file, says what is the matter in
// words that help, and holds no SQL.
class Database {
 public:
  // The first makes the file where there is none; the second changes nothing, and needs no more
  // than the right to read.
  enum class Access { read_write, read_only };
  // Waits so long for others that keep it from writing or from a checkpoint.
  explicit Database(const std::string& path,
                    Access access = Access::read_write,
                    Duration busy_timeout = std::chrono::seconds{5});

  void execute(const char* sql);
  [[nodiscard]] std::int64_t integer(std::string_view sql) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  // How many rows the last statement changed.
  [[nodiscard]] int changes() const;

  // A file of another program that happens to be in the way is refused by its mark, and one of a
  // dutiful that is newer than this by the version of its tables.
  struct Format {
    std::int64_t mark;     // application_id. Stored, so never changed.
    std::int64_t version;  // the newest that is known. A step to a newer one is a migration.
    const char* foreign;   // what is said of another's file
    const char* remedy;    // of one that is too new
  };
  // The version that the file has; 0 where it is new.
  [[nodiscard]] std::int64_t check_format(const Format& format) const;
  void set_format(const Format& format);

  // Gives back what a large transaction has left of the write-ahead log, unless somebody reads it.
  void shrink_log() noexcept;

  // Throws unless the code says that all is well.
  void check(int code) const;

 private:
  friend class Statement;
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  int open(const std::string& name, int flags);
  void leave_log(bool leave) const;
  void open_to_read();

  std::string path_;
  Duration busy_timeout_;
  std::unique_ptr<sqlite3, Closer> handle_;
};

// All or nothing: what is not committed when it is destroyed has not happened.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace dutiful
