// A value that is read without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

namespace dutiful {

// One thread at a time changes the value, and never waits: not even for a reader that the system
// has suspended, as it could with a mutex. Any thread reads it, always as a change has left it.
//
// It is a sequence lock without fences, which ThreadSanitizer does not know: a reader that sees a
// word of a change also sees that the version is odd or has changed, and tries again.
template <typename T>
class Published {
  static_assert(std::has_unique_object_representations_v<T> &&
                sizeof(T) % sizeof(std::uint64_t) == 0);

 public:
  Published() { publish(); }

  // Requires that no other thread calls it at the same time.
  template <typename Change>
  void update(Change change) {
    change(value_);
    publish();
  }

  [[nodiscard]] T read() const noexcept {
    while (true) {
      const std::uint64_t version = version_.load(std::memory_order_acquire);
      Words words;
      for (std::size_t i = 0; i < size; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (version % 2 == 0 && version_.load(std::memory_order_relaxed) == version) {
        return std::bit_cast<T>(words);
      }
      std::this_thread::yield();  // to the thread that changes it, which may be suspended
    }
  }

 private:
  static constexpr std::size_t size = sizeof(T) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, size>;

  void publish() noexcept {
    const auto words = std::bit_cast<Words>(value_);
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < size; ++i) words_[i].store(words[i], std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
  }

  T value_{};                               // for the thread that changes it
  std::atomic<std::uint64_t> version_ = 0;  // odd while the words change
  std::array<std::atomic<std::uint64_t>, size> words_{};
};

}  // namespace dutiful
