// The last bytes of an output of any length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dutiful {

class OutputTail {
 public:
  explicit OutputTail(std::size_t size_max) : size_max_(size_max) {}

  // Keeps up to twice the limit, so that bytes are rarely moved.
  void append(std::string_view chunk) {
    total_ += chunk.size();
    if (chunk.size() > size_max_) chunk.remove_prefix(chunk.size() - size_max_);
    if (text_.size() + chunk.size() > 2 * size_max_) shorten();
    text_ += chunk;
  }

  [[nodiscard]] std::string take() {
    shorten();
    text_.shrink_to_fit();  // it may be kept for long
    return std::move(text_);
  }
  // The size of the whole output.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  void shorten() {
    if (text_.size() > size_max_) text_.erase(0, text_.size() - size_max_);
  }

  std::size_t size_max_;
  std::string text_;
  std::uint64_t total_ = 0;
};

}  // namespace dutiful
