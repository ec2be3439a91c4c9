// Whether the state is still the file that the daemon took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "posix/file_identity.h"
#include "sync/mutex.h"

namespace dutiful {

enum class StateFile : std::uint8_t { in_place, removed, replaced };

// The scheduler notices a lost file when it writes to it, which may be days later. This class looks
// at the file itself, and costs one system call. Thread-safe.
class StateWatch {
 public:
  explicit StateWatch(std::string path) : path_(std::move(path)) {}

  // The file that is there now is the state. Before this, nothing is known, and nothing is lost.
  void begin() noexcept {
    const Lock lock{mutex_};
    taken_ = identity_of(path_);
  }
  [[nodiscard]] StateFile look() const noexcept {
    const Lock lock{mutex_};
    if (!taken_) return StateFile::in_place;
    const auto found = identity_of(path_);
    if (!found) return StateFile::removed;
    return found == taken_ ? StateFile::in_place : StateFile::replaced;
  }

 private:
  const std::string path_;
  mutable Mutex mutex_;
  std::optional<FileIdentity> taken_ GUARDED_BY(mutex_);
};

}  // namespace dutiful
