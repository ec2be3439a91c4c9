// Which faults are tried, given the calls of a life without faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faults/call.h"
#include "faults/fault.h"

namespace dutiful::faults {

enum class Family : std::uint8_t {
  kill,  // before, within and after every call
  once,  // every call fails in every possible way, or does half
  keep,  // … and keeps failing; a disk that dies or is full from any call on
};

[[nodiscard]] std::vector<Fault> faults_of(Family family, const std::vector<LoggedCall>& log);

// A sample of this size, drawn by that seed. No combination of kind of call, file and deed is taken
// twice while another has not been taken at all.
[[nodiscard]] std::vector<Fault> sample(const std::vector<Fault>& faults,
                                        const std::vector<LoggedCall>& log,
                                        std::size_t count,
                                        std::uint32_t seed);

}  // namespace dutiful::faults
