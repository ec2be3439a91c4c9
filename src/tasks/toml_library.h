// The TOML library, as every file here includes it: toml++ as headers only, because its shared
// build throws and does not limit nesting.
#pragma once

#include "tasks/toml_guard.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
// The library asserts that some syntax errors, such as `[.a]`, are impossible before it reports
// them: its assertions would abort, and in a release build the compiler would rely on them.
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/impl/forward_declarations.h>
// It also takes for impossible that a letter such as é is not a blank.
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#include <toml++/toml.h>

namespace dutiful {

static_assert(TOML_MAX_NESTED_VALUES == nesting_max);

}  // namespace dutiful
