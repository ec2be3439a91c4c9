#include "postgres/result.h"

#include <charconv>
#include <stdexcept>
#include <string_view>

#include <libpq-fe.h>

#include "time/no_instant.h"

namespace dutiful::postgres {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw std::runtime_error("it returned an unexpected value: " + std::string{text.substr(0, 40)});
}

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) refuse(text);
  return number;
}

unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  refuse({&c, 1});
}

}  // namespace

void Result::Clearer::operator()(pg_result* result) const {
  PQclear(result);
}

int Result::rows() const {
  return PQntuples(handle_.get());
}

bool Result::is_null(int row, int column) const {
  return PQgetisnull(handle_.get(), row, column) != 0;
}

std::string Result::text(int row, int column) const {
  return {PQgetvalue(handle_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(handle_.get(), row, column))};
}

std::int64_t Result::integer(int row, int column) const {
  return number_of({PQgetvalue(handle_.get(), row, column),
                    static_cast<std::size_t>(PQgetlength(handle_.get(), row, column))});
}

bool Result::boolean(int row, int column) const {
  return *PQgetvalue(handle_.get(), row, column) == 't';
}

Instant Result::instant(int row, int column) const {
  return is_null(row, column) ? no_instant : Instant{Duration{integer(row, column)}};
}

std::string Result::bytes(int row, int column) const {
  const std::string hex = text(row, column);
  if (!hex.starts_with("\\x") || hex.size() % 2 != 0) refuse(hex);
  std::string bytes;
  bytes.reserve(hex.size() / 2 - 1);
  for (std::size_t i = 2; i < hex.size(); i += 2) {
    bytes += static_cast<char>(digit_of(hex[i]) << 4U | digit_of(hex[i + 1]));
  }
  return bytes;
}

std::vector<std::int64_t> Result::numbers(int row, int column) const {
  std::vector<std::int64_t> numbers;
  const std::string array = text(row, column);
  if (array.size() < 2 || array.front() != '{' || array.back() != '}') refuse(array);
  std::string_view left = std::string_view{array}.substr(1, array.size() - 2);
  while (!left.empty()) {
    const std::string_view element = left.substr(0, left.find(','));
    numbers.push_back(element == "NULL" ? no_number : number_of(element));
    left.remove_prefix(std::min(left.size(), element.size() + 1));
  }
  return numbers;
}

}  // namespace dutiful::postgres
