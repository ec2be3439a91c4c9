// Which version of dutiful this is. The build takes its own version from here.
#pragma once

#include <dutiful/export.h>

// Of the headers: MAJOR.MINOR.PATCH. docs/upgrading.md says what each part promises.
#define DUTIFUL_VERSION_MAJOR 0
#define DUTIFUL_VERSION_MINOR 1
#define DUTIFUL_VERSION_PATCH 0
#define DUTIFUL_VERSION "0.1.0"

namespace dutiful {

// The version of the library that the program was linked with, as in DUTIFUL_VERSION. With a shared
// library it may be newer than that of the headers. Never null, lives for ever.
[[nodiscard]] DUTIFUL_EXPORT const char* version() noexcept;

}  // namespace dutiful
