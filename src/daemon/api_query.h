// The parameters of a request.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <dutiful/time.h>

#include "http/request.h"

namespace dutiful {

// The request cannot be understood: 400, with this message.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads the parameters of a request. Every function throws BadRequest, which names the parameter
// and what it may be.
class ApiQuery {
 public:
  // The parameters that the request may have, each once.
  ApiQuery(const http::Request& request, std::initializer_list<std::string_view> known);

  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name,
                                                   std::int64_t min,
                                                   std::int64_t max) const;
  // An instant with an offset, or a duration before now: 2h.
  [[nodiscard]] std::optional<Instant> past(std::string_view name, Instant now) const;
  // An instant with an offset.
  [[nodiscard]] std::optional<Instant> instant(std::string_view name) const;

 private:
  const http::Request& request_;
};

// A whole number in decimal, without a sign.
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);

}  // namespace dutiful
