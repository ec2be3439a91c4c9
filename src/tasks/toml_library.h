// The TOML library (toml++ 3.3), as every file here includes it, set up so that no text leads it
// into undefined behaviour. It is compiled in, because Debian's shared build throws and does not
// limit nesting.
#pragma once

#include "tasks/toml_guard.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/impl/forward_declarations.h>
// Some assertions state what a syntax error such as `[.a]` contradicts, before it is reported. They
// would abort; with NDEBUG, clang would assume them.
#undef TOML_ASSERT
#define TOML_ASSERT(condition) static_assert(true)
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(condition) static_assert(true)
// The test for white space declares unreachable what a letter such as é reaches.
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#include <toml++/toml.h>

namespace dutiful {

static_assert(TOML_MAX_NESTED_VALUES == nesting_max);

}  // namespace dutiful
