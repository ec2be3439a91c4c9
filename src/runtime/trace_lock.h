// The file of a trace, held by one scheduler at a time.
#pragma once

#include <string>

namespace dutiful {

// Opens the file to read and append, creates it if it is missing, and locks it. Returns the
// descriptor, which the caller closes; that releases the lock. A lock that is held is waited for up
// to a second.
//
// Throws TraceError if that cannot be done, and for a symbolic link or a file of another user.
[[nodiscard]] int open_locked_trace(const std::string& file);

}  // namespace dutiful
