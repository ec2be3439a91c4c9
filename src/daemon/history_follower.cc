#include "daemon/history_follower.h"

#include <utility>

#include <sys/stat.h>

#include "daemon/history_path.h"
#include "daemon/history_reader.h"

namespace dutiful {
namespace {

// How many runs are in memory at the same time.
constexpr std::size_t page_max = 1000;

}  // namespace

HistoryFollower::HistoryFollower(std::string state, std::int64_t after)
    : state_(std::move(state)),
      path_(history_of(state_)),
      last_(after),
      file_(identity_of(path_)) {}

std::optional<HistoryFollower::Stamp> HistoryFollower::stamp_of(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return std::nullopt;
  return Stamp{.file = {.device = status.st_dev, .inode = status.st_ino},
               .size = status.st_size,
               .seconds = status.st_mtim.tv_sec,
               .nanoseconds = status.st_mtim.tv_nsec};
}

void HistoryFollower::take(const std::function<void(const HistoryEntry&)>& visit) {
  const Stamps stamps{.file = stamp_of(path_), .log = stamp_of(path_ + "-wal")};
  // The times of files are coarse: two changes may have the same one, with our look between them.
  // So the file is read once more when it seems to have settled.
  const bool is_changed = stamps != seen_;
  if (!is_changed && is_settled_) return;
  is_settled_ = !is_changed;
  seen_ = stamps;
  if (!stamps.file) return;
  const HistoryReader reader{state_};
  const bool is_replaced = file_ && stamps.file->file != *file_;
  // A new file may have the identity of one that was removed.
  if (is_replaced || reader.newest_id() < last_) last_ = 0;
  file_ = stamps.file->file;
  while (true) {
    const auto entries = reader.read_after(last_, page_max);
    if (entries.empty()) break;
    for (const HistoryEntry& entry : entries) visit(entry);
    last_ = entries.back().id;
  }
}

}  // namespace dutiful
