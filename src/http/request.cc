#include "http/request.h"

#include <algorithm>

#include "http/names.h"

namespace dutiful::http {

const std::string* Request::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [&](const Field& field) { return same_name(field.name, name); });
  return found != headers.end() ? &found->value : nullptr;
}

const std::string* Request::parameter(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &Field::name);
  return found != query.end() ? &found->value : nullptr;
}

}  // namespace dutiful::http
