// Failures of SQLite as errors that say what to do.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <dutiful/errors.h>

struct sqlite3;

namespace dutiful {

// Names the file and says what is wrong with it in words for its user, without SQL. Its cause
// carries SQLite's own message.
class DatabaseError : public StoreError {
 public:
  enum class Kind {
    other,
    damaged,   // the content of the file is wrong
    too_long,  // a value is longer than any that is ever written
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

// What a result code of SQLite means for the file, and what to do. The connection, if there is one,
// may know why the host refused.
[[nodiscard]] std::string reason_of(int code, sqlite3* connection = nullptr);
[[nodiscard]] DatabaseError::Kind kind_of(int code);
// SQLite's own message.
[[nodiscard]] std::exception_ptr cause_of(int code, sqlite3* connection);

}  // namespace dutiful
