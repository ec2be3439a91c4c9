// Which faults are tried, given the calls of a life in which none struck.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faults/call.h"
#include "faults/fault.h"

namespace dutiful::faults {

enum class Family : std::uint8_t {
  kill,  // before, within and after every call
  once,  // every call fails in every way that it may, or does half
  keep,  // … and goes on failing; a disk that dies, or is full, from every call on
};

[[nodiscard]] std::vector<Fault> faults_of(Family family, const std::vector<LoggedCall>& log);

// So many of them, by that seed. None of a kind of call, a file and a deed is taken twice while
// there is another that was not taken at all.
[[nodiscard]] std::vector<Fault> sample(const std::vector<Fault>& faults,
                                        const std::vector<LoggedCall>& log,
                                        std::size_t count,
                                        std::uint32_t seed);

}  // namespace dutiful::faults
