// What is in the file of a trace when a scheduler opens it.
#pragma once

#include <fstream>
#include <string>

#include <sys/types.h>

#include "trace/lines.h"

namespace dutiful {

struct CheckedTrace {
  off_t size = 0;        // of its whole lines, the header included
  std::string damage{};  // what is damaged, as in "ends with zeros …"; empty: nothing was found
};

// Checks that the file begins with that header, and cuts off the part of a line at its end that a
// killed scheduler or a full disk may leave. The events are not read. A damaged file is left as it
// is. An empty one is fine.
//
// Throws TraceError, and leaves the file as it is, if it is no trace, or that of a scheduler with
// other options.
[[nodiscard]] CheckedTrace check_trace(const std::string& file,
                                       int descriptor,
                                       const TraceHeader& header);

// Throws TraceError.
[[nodiscard]] std::ifstream open_to_read(const std::string& file);

// The damage that a reader has met.
[[nodiscard]] std::string damage_of(const MalformedTrace& error);

}  // namespace dutiful
