// A life that a fault strikes, or a power cut ends, and the life after it, in which all must be
// well: both are judged by their words, by the state that they leave, and by their trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/disk.h"
#include "faults/fault.h"
#include "faults/life.h"
#include "faults/promises.h"

namespace dutiful::faults {

inline constexpr const char* trace_file = "trace.jsonl";

// What lives before have left, and said.
struct Past {
  Files files{};
  Promises promises{};
  std::vector<Words> lives{};
};

struct Verdict {
  Complaints complaints{};
  bool refused = false;  // the life that was struck was told so, or could not begin
  std::string story{};   // what was said, and the trace: for whoever has to find out why
};

// The life that follows: of who has no past, the whole script; else the one that recovers, by what
// it finds. Logs its calls.
[[nodiscard]] std::vector<LoggedCall> calls_of_next_life(const Past& past);

// The past of whoever is struck so.
[[nodiscard]] Past struck_by(const Past& past, const Fault& fault);

// Lets the life that follows be struck, and then recovers. See victim.cc for the manner.
[[nodiscard]] Verdict suffer(const Past& past, const Fault& fault, const std::string& manner);

// Cuts the power in the life that follows, whose calls and words are those of the log up to there,
// and recovers from what the cut leaves. A trace that lies `elsewhere` loses nothing. One that lies
// `here` may be torn, and is not judged: the scheduler sets one aside that has become malformed,
// and goes on with another.
enum class TraceLies { elsewhere, here };
[[nodiscard]] Verdict cut_power(const Past& past,
                                const std::vector<LoggedCall>& log,
                                std::size_t after,
                                Disk::Kept kept,
                                std::uint32_t seed,
                                TraceLies lies = TraceLies::elsewhere);

}  // namespace dutiful::faults
