// A trace that a power cut has damaged: how it is known, and where it is kept.
#pragma once

#include <iosfwd>
#include <string>

namespace dutiful {

// Whether a file without the header of a trace may have been one. A trace is not synced, so a power
// cut may leave zeros in the place of any of its sectors, the first ones included. Such a file
//
// - begins like a header, or with whole sectors of zeros;
// - otherwise holds the text of events, and maybe more zeros.
//
// A file of nothing but zeros is one of them. Reads from where the stream is.
[[nodiscard]] bool is_damaged_trace(std::istream& in);

// Renames the file to <file>.damaged-1, or to the first such number that is free. Never replaces a
// file. Returns the new name; throws std::system_error.
[[nodiscard]] std::string set_aside(const std::string& file);

}  // namespace dutiful
