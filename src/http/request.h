// A request that has passed every check of the server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dutiful::http {

struct Field {
  std::string name, value;

  friend bool operator==(const Field&, const Field&) = default;
};

struct Request {
  enum class Method : std::uint8_t { get, head };

  Method method = Method::get;
  std::string path = "/";               // as it was sent, without the query
  std::vector<std::string> segments{};  // decoded: "/tasks/a%2Fb" has "tasks" and "a/b", "/" none
  std::vector<Field> query{};           // decoded, in the order of the request
  std::vector<Field> headers{};
  std::string client{};  // "192.0.2.7", or "user 33" on a Unix socket

  // The value of the first header or parameter of this name; nullptr if there is none. Names of
  // headers are compared without regard to case.
  [[nodiscard]] const std::string* header(std::string_view name) const;
  [[nodiscard]] const std::string* parameter(std::string_view name) const;
};

}  // namespace dutiful::http
