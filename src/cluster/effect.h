// What a member asks its driver to do, in this order.
#pragma once

#include <variant>
#include <vector>

#include "cluster/boot_time.h"
#include "cluster/database.h"

namespace dutiful::cluster {

// The two connections of a member: a renewal never waits for a commit.
enum class Channel : std::uint8_t { renewals, work };

// Make a new connection, in place of any that there was.
struct Connect {
  Channel channel{};
};
struct Send {
  Channel channel{};
  Request request;
};
// The start is durable. Run it, unless the lease has ended meanwhile: then its end is
// `interrupted` (N5).
struct StartRun {
  RunKey run;
  Reason reason{};
  Instant at;
};
// The lease lasts until then. Whatever runs must have ended by then (N5), and its end is
// `interrupted`.
struct ExtendLease {
  BootTime until;
};
// The member was declared dead. Whatever it runs must end at once, and nobody wants its ends.
struct EndRuns {};

// Its list counts, also for a member that has joined anew. initialize() returns.
struct Initialized {
  Generation generation = 0;
};
// Another list counts now. The member starts nothing more (N8). If initialize() has not returned,
// it fails.
struct Superseded {
  Generation generation = 0;
};
// stop() returns. If its last ends could not be recorded, their runs count as interrupted.
struct Stopped {
  bool all_recorded = true;
};
// The database knows less than it has acknowledged (N10).
struct Forgotten {};

using Effect = std::variant<Connect,
                            Send,
                            StartRun,
                            ExtendLease,
                            EndRuns,
                            Initialized,
                            Superseded,
                            Stopped,
                            Forgotten>;
using Effects = std::vector<Effect>;

}  // namespace dutiful::cluster
