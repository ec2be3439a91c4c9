// Splits the output of commands into lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <dutiful/run.h>

namespace dutiful {

// Long lines are split, so that a command that never writes a newline does not exhaust the memory.
// The lines of two runs are kept apart: a process that one run left in the background may write
// during the next run.
class OutputLines {
 public:
  using Sink = std::function<void(const std::string& task, std::string_view line)>;
  explicit OutputLines(Sink sink) : sink_(std::move(sink)) {}

  void add(const RunInfo& run, std::string_view chunk) {
    std::string& partial = partial_[run.fence];
    while (!chunk.empty()) {
      const std::size_t room = length_max - partial.size();
      const std::size_t newline = chunk.substr(0, room).find('\n');
      partial += chunk.substr(0, std::min(newline, room));
      if (newline == std::string_view::npos && chunk.size() < room) return;
      chunk.remove_prefix(newline == std::string_view::npos ? room : newline + 1);
      sink_(run.task, partial);
      partial.clear();
    }
  }

  // The run, or a process that it left in the background, has ended: completes the last line.
  void finish(const RunInfo& run) {
    const auto found = partial_.find(run.fence);
    if (found == partial_.end()) return;
    if (!found->second.empty()) sink_(run.task, found->second);
    partial_.erase(found);
  }

 private:
  static constexpr std::size_t length_max = 4096;
  Sink sink_;
  std::unordered_map<std::uint64_t, std::string> partial_;  // by fence, which is unique to a run
};

}  // namespace dutiful
