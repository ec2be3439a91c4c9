#include <dutiful/version.h>

namespace dutiful {

const char* version() noexcept {
  return DUTIFUL_VERSION;
}

}  // namespace dutiful
