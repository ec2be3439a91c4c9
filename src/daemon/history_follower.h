// The runs that are added to the history, as they are added.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

#include "daemon/history_entry.h"
#include "posix/file_identity.h"

namespace dutiful {

// Holds no connection in between, so it does not matter whether a daemon runs, stops or starts, or
// whether the history exists yet.
class HistoryFollower {
 public:
  // Begins after the run with that id.
  HistoryFollower(std::string state, std::int64_t after);

  // Passes on the runs added since the last call, the oldest first. If the file was replaced, all
  // runs of the new one. Opens the file only if it has changed. Throws HistoryError.
  void take(const std::function<void(const HistoryEntry&)>& visit);

 private:
  struct Stamp {
    FileIdentity file{};
    off_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Stamps {
    std::optional<Stamp> file{};
    std::optional<Stamp> log{};

    friend bool operator==(const Stamps&, const Stamps&) = default;
  };
  [[nodiscard]] static std::optional<Stamp> stamp_of(const std::string& path);

  const std::string state_;
  const std::string path_;
  std::int64_t last_;
  std::optional<FileIdentity> file_;
  Stamps seen_{};
  bool is_settled_ = false;  // it was read again after the last change
};

}  // namespace dutiful
