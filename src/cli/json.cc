#include "cli/json.h"

#include <ostream>

#include <nlohmann/json.hpp>

#include "text/quote.h"

namespace dutiful {

std::string to_text(const nlohmann::ordered_json& document) {
  return escape_json(
      document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void ArrayPrinter::print(const nlohmann::ordered_json& element) {
  out_ << (printed_ ? ',' : '[') << to_text(element);
  printed_ = true;
}

void ArrayPrinter::finish() {
  out_ << (printed_ ? "]\n" : "[]\n");
}

}  // namespace dutiful
