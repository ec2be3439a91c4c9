// A life that a fault strikes or a power cut ends, and the life after it, in which nothing goes
// wrong. Both are judged by the lines they print, the state they leave and their trace.
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

// The files that earlier lives left, and the lines they printed.
struct Past {
  Files files{};
  Promises promises{};
  std::vector<Words> lives{};
};

struct Verdict {
  Complaints complaints{};
  bool refused = false;  // the struck life got an error, or could not begin
  std::string story{};   // the printed lines and the trace, to find out why
};

// Runs the next life and returns its calls: the whole script if there is no past, otherwise a
// recovery from what it finds.
[[nodiscard]] std::vector<LoggedCall> calls_of_next_life(const Past& past);

// The past after a next life struck by that fault.
[[nodiscard]] Past struck_by(const Past& past, const Fault& fault);

// Runs the next life with the fault, then recovers. victim.cc describes the manner.
[[nodiscard]] Verdict suffer(const Past& past, const Fault& fault, const std::string& manner);

// Cuts the power in the next life, whose calls and lines are those of the log up to there, and
// recovers from what is left. A trace that lies `elsewhere` loses nothing. One that lies `here` may
// be torn and is not judged: the scheduler sets a malformed trace aside and continues with another.
enum class TraceLies { elsewhere, here };
[[nodiscard]] Verdict cut_power(const Past& past,
                                const std::vector<LoggedCall>& log,
                                std::size_t after,
                                Disk::Kept kept,
                                std::uint32_t seed,
                                TraceLies lies = TraceLies::elsewhere);

}  // namespace dutiful::faults
