#include "daemon/takeover.h"

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "leftovers/kill_leftovers.h"
#include "posix/random_name.h"

namespace dutiful {
namespace {

// How long processes of the previous daemon may take to die.
constexpr std::chrono::seconds death_max{30};

}  // namespace

Takeover::Takeover(std::string state, EventLog& log)
    : state_(std::move(state)), instance_(random_name()), log_(log), journal_(state_) {}

void Takeover::prepare(Instant now) {
  interrupted_ = interrupted_runs(state_, now);
  kill_all_leftovers();
  is_prepared_ = true;
}

void Takeover::kill_all_leftovers() {
  const auto previous = journal_.enter(instance_, !interrupted_.empty());
  Fences fences;
  for (const HistoryEntry& run : interrupted_) fences.insert(run.result.run.fence);
  const KilledLeftovers killed = kill_leftovers(previous, fences, death_max);
  if (killed.count > 0) {
    log_.report(event::LeftoversEnded{static_cast<std::int64_t>(killed.count)});
  }
  if (!killed.remaining.empty()) {
    std::string processes;
    for (const int process : killed.remaining) processes += ' ' + std::to_string(process);
    throw std::runtime_error(
        "processes left behind by the previous daemon do not die, and dutiful starts nothing "
        "beside them; end them first:" +
        processes);
  }
  journal_.keep_only(instance_);
}

void Takeover::leave_nothing() {
  if (is_prepared_) journal_.clear();
}

}  // namespace dutiful
