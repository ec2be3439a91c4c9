// The worlds that the tests of the page look at.
#pragma once

#include <string>
#include <string_view>

#include <dutiful/time.h>

namespace dutiful::page_world {

// 2026-06-17T10:14:20+02:00
[[nodiscard]] Instant at(std::string_view text);

// Each makes a task file, a state and a history in the directory, and returns the instant up to
// which they reach.

// Three days of a small company: a task that fails and is retried, a flaky one, one that was
// interrupted, one that has never run, two hours of downtime, and a crash at the end that
// interrupts three runs.
Instant make_shop(const std::string& directory);
// America/New_York, after the night in which clocks are set forward, and back.
Instant make_spring(const std::string& directory);
Instant make_autumn(const std::string& directory);
// Names and outputs that try to become something other than text.
Instant make_hostile(const std::string& directory);
// 10,000 tasks with 30 runs each.
Instant make_ten_thousand(const std::string& directory);

}  // namespace dutiful::page_world
