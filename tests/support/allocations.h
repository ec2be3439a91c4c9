// Counts what `new` hands out, in programs that link this.
#pragma once

#include <cstdint>

namespace dutiful {

// How often operator new has been called so far, by any thread.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace dutiful
