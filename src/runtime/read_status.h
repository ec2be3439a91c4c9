// Makes a SchedulerStatus of what the board shows.
#pragma once

#include <cstddef>

#include <dutiful/calendar.h>
#include <dutiful/status.h>

#include "engine/status_board.h"

namespace dutiful {

// All the work is the reader's: the board only shows what the records contain, and what follows
// from them at `now` is calculated here. `lifecycle` must have been read before this call.
[[nodiscard]] SchedulerStatus read_status(const StatusBoard& board,
                                          const Calendar& calendar,
                                          SchedulerStatus::Lifecycle lifecycle,
                                          std::size_t max_concurrent,
                                          Instant now);

}  // namespace dutiful
