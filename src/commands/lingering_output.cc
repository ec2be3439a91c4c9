#include "commands/lingering_output.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <sys/resource.h>

namespace dutiful {

LingeringOutput::LingeringOutput(OutputReader& reader, std::size_t pipes_max, OnEnd on_end)
    : reader_(reader), pipes_max_(pipes_max), on_end_(std::move(on_end)) {}

void LingeringOutput::keep(std::uint64_t serial, Descriptor pipe, const RunInfo& run) noexcept {
  try {
    Pipe& kept = pipes_.emplace(serial, Pipe{.run = run, .last_read = ++reads_}).first->second;
    kept.output = std::move(pipe);
    // The run has ended, so it keeps nothing of the scheduler alive.
    kept.run.stop = {};
    kept.run.must_end = {};
    kept.run.stop_state.reset();
  } catch (const std::exception&) {
    return;
  }
  if (pipes_.size() > pipes_max_) {
    close(std::ranges::min_element(
        pipes_, {}, [](const Pipes::value_type& entry) { return entry.second.last_read; }));
  }
}

void LingeringOutput::read_some(std::uint64_t serial) {
  const auto found = pipes_.find(serial);
  if (found == pipes_.end()) return;
  found->second.last_read = ++reads_;
  reader_.read_some(found->second.output, nullptr, found->second.run);
  if (!found->second.output.is_open()) close(found);
}

void LingeringOutput::close(Pipes::iterator pipe) noexcept {
  try {
    if (on_end_) on_end_(pipe->second.run);
  } catch (...) {
    // Best effort.
  }
  pipes_.erase(pipe);
}

std::size_t lingering_pipes_max() {
  constexpr rlim_t many = 256;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return many;
  return std::clamp<rlim_t>(descriptors.rlim_cur / 4, 1, many);
}

}  // namespace dutiful
