// The limits on a task (RULES E).
#pragma once

#include <cstddef>

namespace dutiful {

// The longest name and cron text, in bytes. initialize() rejects longer ones with an
// InvalidRegistrationError.
inline constexpr std::size_t task_name_max = 1024;
inline constexpr std::size_t cron_text_max = 1024;

}  // namespace dutiful
