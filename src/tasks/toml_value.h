// Values of a TOML document in messages.
#pragma once

#include <string>

#include "tasks/place.h"
#include "tasks/toml_library.h"

namespace dutiful {

[[nodiscard]] Place place_of(const toml::source_region& source);

// "the integer 5", "a table".
[[nodiscard]] std::string describe(const toml::node& node);

// The value itself: 5; a string without quotes; a table or an array as describe() has it.
[[nodiscard]] std::string text_of(const toml::node& node);

// "a table with name, cron". The values are left out, because they may be secrets.
[[nodiscard]] std::string text_of_keys(const toml::table& table);

}  // namespace dutiful
