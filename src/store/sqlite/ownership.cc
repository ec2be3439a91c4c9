#include "store/sqlite/ownership.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

// Far from the bytes that SQLite locks, and from any that a file has. Another process sees it only
// there, so it is never changed.
constexpr off_t state_lock_byte = off_t{1} << 62;

std::string read_holder(int descriptor) {
  std::array<char, 200> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string{text.data(), static_cast<std::size_t>(size)} : "another process";
}

void write_holder(int descriptor) {
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const std::string text = "process " + std::to_string(getpid()) + " since " + format_utc(now);
  // Only a courtesy to whoever finds the lock taken: that it is held is what counts.
  if (ftruncate(descriptor, 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(descriptor, text.data(), text.size(), 0);
  }
}

}  // namespace

// The states that this process holds.
class Ownership::HeldHere {
 public:
  static HeldHere& instance() {
    static HeldHere held;
    return held;
  }
  std::mutex mutex;
  std::set<Identity> states;
};

Ownership::Ownership(const std::string& state) : state_(state) {
  try {
    lock_name(state + "-owner");
    lock_state();
    for (const char* suffix : {"", "-owner", "-wal", "-shm"}) {
      watched_.push_back({.path = state + suffix});
    }
    write_holder(name_descriptor_);
  } catch (...) {
    release();
    throw;
  }
}

Ownership::~Ownership() {
  release();
}

void Ownership::release() noexcept {
  if (held_) {
    const std::lock_guard lock{HeldHere::instance().mutex};
    HeldHere::instance().states.erase(*held_);
  }
  if (state_descriptor_ >= 0) close(state_descriptor_);
  if (name_descriptor_ >= 0) close(name_descriptor_);
}

void Ownership::lock_name(const std::string& path) {
  name_descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (name_descriptor_ < 0) {
    throw StoreError(state_,
                     "cannot be locked: " + path + ": " + std::strerror(errno) +
                         "; check that its directory exists and may be written");
  }
  if (flock(name_descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) throw StateHeldError(state_, read_holder(name_descriptor_));
    throw StoreError(state_, "cannot be locked: " + path + ": " + std::strerror(errno));
  }
}

void Ownership::lock_state() {
  HeldHere& here = HeldHere::instance();
  const std::lock_guard lock{here.mutex};
  const auto found = identify(state_);
  if (found && here.states.contains(*found)) {
    throw StateHeldError(state_, "this process, by another name of the file");
  }
  state_descriptor_ = open(state_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (state_descriptor_ < 0) return;  // SQLite will say what is the matter
  // One that belongs to the descriptor: SQLite's own belong to the process.
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = state_lock_byte;
  range.l_len = 1;
  if (fcntl(state_descriptor_, F_OFD_SETLK, &range) != 0 && (errno == EAGAIN || errno == EACCES)) {
    throw StateHeldError(state_, "another process, by another name of the file");
  }
  held_ = identify(state_);
  if (held_) here.states.insert(*held_);
}

std::optional<Ownership::Identity> Ownership::identify(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return Identity{found.st_dev, found.st_ino};
}

void Ownership::check() {
  for (Watched& watched : watched_) {
    const auto found = identify(watched.path);
    if (!watched.identity) {
      watched.identity = found;
    } else if (watched.identity != found) {
      throw StoreError(state_,
                       "is not safe any more: " + quote(watched.path) + " was " +
                           (found ? "replaced" : "removed") +
                           " while it is in use; put it back, or restart to go on with what is "
                           "there now");
    }
  }
}

}  // namespace dutiful
