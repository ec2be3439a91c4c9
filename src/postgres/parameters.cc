#include "postgres/parameters.h"

#include <utility>

#include "time/no_instant.h"

namespace dutiful::postgres {

std::string& Array::next() {
  if (text_.size() > 1) text_ += ',';
  return text_;
}

Array& Array::add(std::int64_t number) {
  next() += std::to_string(number);
  return *this;
}

Array& Array::add_null() {
  next() += "NULL";
  return *this;
}

Array& Array::add(Instant instant) {
  return instant == no_instant ? add_null() : add(to_bigint(instant));
}

Array& Array::add_bytes(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string& text = next();
  text += R"("\\x)";
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4U];
    text += digits[static_cast<unsigned char>(byte) & 0xfU];
  }
  text += '"';
  return *this;
}

Array& Array::add_numbers(const Array& inner) {
  next().append("\"").append(inner.text()).append("\"");
  return *this;
}

Parameters& Parameters::add(std::int64_t number) {
  values_.emplace_back(std::to_string(number));
  return *this;
}

Parameters& Parameters::add(const Array& array) {
  values_.emplace_back(array.text());
  return *this;
}

Parameters& Parameters::add_text(std::string text) {
  values_.emplace_back(std::move(text));
  return *this;
}

Parameters& Parameters::add(std::optional<Instant> instant) {
  if (!instant) {
    values_.emplace_back(std::nullopt);
    return *this;
  }
  return add(to_bigint(*instant));
}

}  // namespace dutiful::postgres
