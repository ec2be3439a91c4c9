// The entry of one command in the daemon's journal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dutiful {

// The line that a command writes about itself just before it becomes another program, so that no
// command runs without an entry. Two numbers are still missing from the text: the command's process
// and the tick of the write.
struct JournalLine {
  static constexpr std::size_t process_at = 1;
  static constexpr std::size_t process_width = 10;
  static constexpr std::size_t not_before_at = 12;
  static constexpr std::size_t not_after_at = 33;
  static constexpr std::size_t ticks_width = 20;
  static constexpr std::size_t size = 54;

  // Right-aligned. Calls nothing: the child shares its memory with the daemon.
  __attribute__((no_sanitize("address", "thread", "undefined"))) void put(std::size_t at,
                                                                          std::size_t width,
                                                                          std::int64_t number) {
    const std::size_t last = at + width - 1;
    for (std::size_t i = last; i + 1 > at; --i, number /= 10) {
      text[i] = number > 0 || i == last ? static_cast<char>('0' + number % 10) : ' ';
    }
  }

  int file = -1;  // -1: the command has no entry
  std::int64_t place = 0;
  std::int64_t tick_length = 1;
  char text[size] = {};  // NOLINT(modernize-avoid-c-arrays): as plain as can be
};

static_assert(JournalLine::not_before_at ==
              JournalLine::process_at + JournalLine::process_width + 1);
static_assert(JournalLine::not_after_at ==
              JournalLine::not_before_at + JournalLine::ticks_width + 1);
static_assert(JournalLine::size == JournalLine::not_after_at + JournalLine::ticks_width + 1);

}  // namespace dutiful
