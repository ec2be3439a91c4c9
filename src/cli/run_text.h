// A run of the history, for people.
#pragma once

#include <iosfwd>

#include <dutiful/zone.h>

#include "daemon/history_entry.h"

namespace dutiful {

enum class OutputShown {
  last_lines,
  all,  // that is kept
};

// One line, and the output below it, indented.
void print_run(const HistoryEntry& entry, const Zone& zone, OutputShown shown, std::ostream& out);

}  // namespace dutiful
