// The standard input of a command that gets one.
#pragma once

#include <string_view>

#include "posix/descriptor.h"

namespace dutiful {

// A file in memory from which the text can be read. Unlike a pipe, it needs no writer, so it does
// not matter whether the command reads it. Nobody can change it. Throws SpawnError.
[[nodiscard]] Descriptor input_of(std::string_view text);

}  // namespace dutiful
