// Cuts what commands write into lines.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dutiful {

// Long lines come in parts, so that a command that never writes a newline takes no memory.
class OutputLines {
 public:
  using Sink = std::function<void(const std::string& task, std::string_view line)>;
  explicit OutputLines(Sink sink) : sink_(std::move(sink)) {}

  void add(const std::string& task, std::string_view chunk) {
    std::string& partial = partial_[task];
    while (!chunk.empty()) {
      const std::size_t room = length_max - partial.size();
      const std::size_t newline = chunk.substr(0, room).find('\n');
      partial += chunk.substr(0, std::min(newline, room));
      if (newline == std::string_view::npos && chunk.size() < room) return;
      chunk.remove_prefix(newline == std::string_view::npos ? room : newline + 1);
      sink_(task, partial);
      partial.clear();
    }
  }

  // The run has ended: so has its last line.
  void finish(const std::string& task) {
    const auto found = partial_.find(task);
    if (found == partial_.end()) return;
    if (!found->second.empty()) sink_(task, found->second);
    partial_.erase(found);
  }

 private:
  static constexpr std::size_t length_max = 4096;
  Sink sink_;
  std::unordered_map<std::string, std::string> partial_;
};

}  // namespace dutiful
