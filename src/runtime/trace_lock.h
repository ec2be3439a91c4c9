// The file of a trace, held by one scheduler at a time.
#pragma once

#include <string>

#include "posix/descriptor.h"

namespace dutiful {

// Opens the file to read and append, creates it if it is missing, and locks it. Closing the
// descriptor releases the lock. Waits up to a second for a lock that another process holds. Leaves
// an existing file as it is; check_trace() makes it private.
//
// Throws TraceError if that cannot be done, and for a symbolic link or a file of another user.
[[nodiscard]] Descriptor open_locked_trace(const std::string& file);

}  // namespace dutiful
