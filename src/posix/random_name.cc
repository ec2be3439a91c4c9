#include "posix/random_name.h"

#include <random>
#include <string_view>

namespace dutiful {

std::string random_name() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string name;
  while (name.size() < 32) {
    for (unsigned bits = random(), i = 0; i < 8; ++i, bits >>= 4) name += digits[bits & 15];
  }
  return name;
}

}  // namespace dutiful
