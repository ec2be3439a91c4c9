// Cuts what commands write into lines.
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

// Long lines come in parts, so that a command that never writes a newline takes no memory. Lines of
// two runs do not mix: what the one before left in the background may write beside the next.
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

  // The run has ended, or what it left in the background: so has its last line.
  void finish(const RunInfo& run) {
    const auto found = partial_.find(run.fence);
    if (found == partial_.end()) return;
    if (!found->second.empty()) sink_(run.task, found->second);
    partial_.erase(found);
  }

 private:
  static constexpr std::size_t length_max = 4096;
  Sink sink_;
  std::unordered_map<std::uint64_t, std::string> partial_;  // by fence, which no two runs share
};

}  // namespace dutiful
