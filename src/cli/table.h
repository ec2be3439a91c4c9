// A table for people.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace dutiful {

// Cells in columns, each as wide as its widest cell, below a line of titles. Numbers are aligned to
// the right.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column, without control characters.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace dutiful
