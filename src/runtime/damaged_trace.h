// A trace that a power cut has damaged: how to recognize it, and how to set it aside.
#pragma once

#include <iosfwd>
#include <string>

namespace dutiful {

// Whether a file without a valid header may have been a trace. A trace is not synced, so a power
// cut may leave zeros in place of any of its sectors, also of the first ones. Such a file
//
// - begins like a header, or with whole sectors of zeros; and
// - otherwise contains the text of events, and possibly more zeros.
//
// A file of zeros alone counts, too. Reads from the position of the stream.
[[nodiscard]] bool is_damaged_trace(std::istream& in);

// Renames the file to <file>.damaged-1, or to the first such number that is free. Never replaces a
// file. Returns the new name. Throws std::system_error.
[[nodiscard]] std::string set_aside(const std::string& file);

}  // namespace dutiful
