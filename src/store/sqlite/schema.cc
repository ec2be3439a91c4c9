#include "store/sqlite/schema.h"

#include <string_view>
#include <utility>

#include "store/sqlite/database.h"
#include "store/sqlite/statement.h"

namespace dutiful {
namespace {

// The statement with as few blanks as possible. Its layout, which SQLite changes when a column is
// added, is not part of a format.
std::string without_blanks(std::string_view sql) {
  std::string text;
  const auto parts = [](char c) { return c == '(' || c == ')' || c == ','; };
  bool blank = false;
  for (const char c : sql) {
    if (c == ' ' || c == '\t' || c == '\n') {
      blank = true;
      continue;
    }
    if (blank && !text.empty() && !parts(text.back()) && !parts(c)) text += ' ';
    blank = false;
    text += c;
  }
  return text;
}

}  // namespace

std::set<std::string> parts_of(const Database& database) {
  std::set<std::string> parts;
  Statement row{database, "SELECT type, name, tbl_name, sql FROM sqlite_schema"};
  while (row.step()) {
    std::string part = row.text(0);
    const std::string name = row.text(1);
    if ((part == "table" || part == "index") && name.starts_with("sqlite_")) continue;
    for (const std::string& text : {name, row.text(2), without_blanks(row.text(3))}) {
      part.append(" ").append(text);
    }
    parts.insert(std::move(part));
  }
  return parts;
}

}  // namespace dutiful
