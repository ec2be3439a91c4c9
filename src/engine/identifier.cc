#include "engine/identifier.h"

#include <random>

namespace dutiful {

std::string make_identifier() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string identifier;
  while (identifier.size() < 32) {
    for (unsigned bits = random(), i = 0; i < 8; ++i, bits >>= 4) identifier += digits[bits & 15];
  }
  return identifier;
}

}  // namespace dutiful
