// The rows that a statement returned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <dutiful/time.h>

struct pg_result;

namespace dutiful::postgres {

// Rows and columns count from 0. A value that the statement cannot have returned is a
// std::runtime_error: somebody has changed the tables.
class Result {
 public:
  explicit Result(pg_result* result) : handle_(result) {}

  [[nodiscard]] int rows() const;
  [[nodiscard]] bool is_null(int row, int column) const;
  [[nodiscard]] std::int64_t integer(int row, int column) const;
  [[nodiscard]] bool boolean(int row, int column) const;
  [[nodiscard]] Instant instant(int row, int column) const;  // no_instant: null
  [[nodiscard]] std::string text(int row, int column) const;
  [[nodiscard]] std::string bytes(int row, int column) const;
  // The elements of an array of numbers; no_number: null.
  [[nodiscard]] std::vector<std::int64_t> numbers(int row, int column) const;
  static constexpr std::int64_t no_number = INT64_MIN;

 private:
  struct Clearer {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clearer> handle_;
};

// Of the statements that were sent together.
using Results = std::vector<Result>;

}  // namespace dutiful::postgres
