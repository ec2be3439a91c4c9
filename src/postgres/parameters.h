// The parameters of a statement, as PostgreSQL reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/time.h>

#include "cluster/database.h"

namespace dutiful::postgres {

// PostgreSQL has no unsigned integers. The bits are the same, so equal numbers stay equal, but they
// are ordered by us.
[[nodiscard]] constexpr std::int64_t to_bigint(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
[[nodiscard]] constexpr std::int64_t to_bigint(cluster::MemberId id) {
  return to_bigint(static_cast<std::uint64_t>(id));
}
[[nodiscard]] constexpr std::int64_t to_bigint(Instant instant) {
  return instant.time_since_epoch().count();
}

// One column of many rows: the text of an array, which unnest() makes rows of.
class Array {
 public:
  Array& add(std::int64_t number);
  Array& add_null();
  Array& add(Instant instant);  // null: no_instant
  Array& add_bytes(std::string_view bytes);
  Array& add_numbers(const Array& inner);  // as text, to be cast to an array of its own

  [[nodiscard]] std::string text() const { return text_ + '}'; }

 private:
  std::string& next();

  std::string text_ = "{";
};

class Parameters {
 public:
  Parameters& add(std::int64_t number);
  Parameters& add(const Array& array);
  Parameters& add_text(std::string text);
  Parameters& add(std::optional<Instant> instant);

  [[nodiscard]] const std::vector<std::optional<std::string>>& values() const { return values_; }

 private:
  std::vector<std::optional<std::string>> values_;
};

}  // namespace dutiful::postgres
