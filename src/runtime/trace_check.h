// Whether a file is a trace to which a scheduler may add.
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
// killed scheduler or a full disk may leave. Makes the file private (mode 0600). Does not read the
// events. Leaves the content of a damaged file as it is. Accepts an empty file.
//
// Throws TraceError, and changes nothing, if the file is not a trace, is that of a scheduler with
// other options, or has a second name (hard link).
[[nodiscard]] CheckedTrace check_trace(const std::string& file,
                                       int descriptor,
                                       const TraceHeader& header);

// Throws TraceError.
[[nodiscard]] std::ifstream open_to_read(const std::string& file);

// The damage that a reader has found.
[[nodiscard]] std::string damage_of(const MalformedTrace& error);

}  // namespace dutiful
