// What is too large for a task (RULES E).
#pragma once

#include <cstddef>

namespace dutiful {

// Longer ones are rejected with an InvalidRegistrationError. In bytes.
inline constexpr std::size_t task_name_max = 1024;
inline constexpr std::size_t cron_text_max = 1024;

}  // namespace dutiful
