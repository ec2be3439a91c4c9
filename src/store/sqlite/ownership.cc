#include "store/sqlite/ownership.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "files/private_file.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/state_file.h"
#include "sync/mutex.h"
#include "sync/try_again.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// An open file description lock: it belongs to the descriptor, while SQLite's locks belong to the
// process, and others can query it without taking one. A length of 0 means the whole file.
bool lock(int descriptor, off_t start, off_t length) {
  struct flock range {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length, .l_pid = 0
  };
  return fcntl(descriptor, F_OFD_SETLK, &range) == 0;
}

// How often a file may be removed between its opening and its locking. Each removal means that
// another process gave up.
constexpr int removals_max = 1000;

bool is_taken(int error) {
  return error == EAGAIN || error == EACCES;
}

// Best effort: the name only serves messages, the lock is what counts.
void write_holder(int descriptor, std::string_view text) noexcept {
  if (ftruncate(descriptor, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = pwrite(descriptor, text.data(), text.size(), 0);
}

std::string this_process() {
  return to_text({.process = getpid(),
                  .since = std::chrono::floor<Duration>(std::chrono::system_clock::now()),
                  .host = host_name()});
}

}  // namespace

// The states that this process holds. Never destroyed, because a global scheduler releases its
// state after everything that was created in main() is gone.
class Ownership::HeldHere {
 public:
  static HeldHere& instance() {
    static HeldHere& held = *new HeldHere;
    return held;
  }
  Mutex mutex;
  std::set<FileIdentity> states GUARDED_BY(mutex);
};

Ownership::Ownership(const std::string& state)
    : state_(resolve_state(state)), name_(state_ + "-owner"), log_(state_ + "-wal") {
  refuse_others();
  try {
    lock_name();
    lock_state();
    watched_ = {{.path = state_},
                {.path = name_},
                {.path = log_, .is_log = true},
                {.path = state_ + "-shm", .is_log = true}};
    // SQLite gives its files the mode of the state.
    if (has_mark_of_state(state_descriptor_.get())) {
      make_private();
    } else {
      check_files(Demand::ours);
    }
    predecessor_ = read_name(name_descriptor_.get());
    write_holder(name_descriptor_.get(), this_process());
  } catch (const FileError& error) {
    put_back();
    release();
    refuse(error);
  } catch (...) {
    put_back();
    release();
    throw;
  }
}

void Ownership::make_private() {
  try {
    check_files(Demand::ours_alone);
  } catch (const FileError& error) {
    refuse(error);
  }
}

void Ownership::check_files(Demand demand) const {
  check_private(state_, state_descriptor_.get(), demand);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) check_private(state_ + suffix, demand);
}

// Called in the handler of `error`, which becomes the cause.
void Ownership::refuse(const FileError& error) const {
  throw StoreError(
      state_,
      error.path() == state_ ? error.description() : std::string{"cannot be used: "} + error.what(),
      std::current_exception());
}

Ownership::~Ownership() {
  // Only a holder that was killed leaves its name behind.
  write_holder(name_descriptor_.get(), predecessor_);
  put_back();
  release();
}

void Ownership::confirm() noexcept {
  predecessor_.clear();
  name_made_ = state_made_ = false;
}

// Called while the files are locked. A process that has opened one meanwhile checks, after locking
// it, that it still exists.
void Ownership::put_back() noexcept {
  if (state_made_ && is_at(state_, state_descriptor_.get()) && is_unused()) {
    unlink(state_.c_str());
  }
  if (name_made_ && is_at(name_, name_descriptor_.get())) unlink(name_.c_str());
}

// A database may have readers, whose log belongs to its name, and content that others have written.
bool Ownership::is_unused() const noexcept {
  struct stat status {};
  return fstat(state_descriptor_.get(), &status) == 0 && status.st_size == 0 &&
         faccessat(AT_FDCWD, log_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

void Ownership::release() noexcept {
  {
    // No other scheduler of this process may open the file while it is being closed.
    HeldHere& here = HeldHere::instance();
    const Lock guard{here.mutex};
    if (held_) here.states.erase(*held_);
    state_descriptor_.reset();
  }
  name_descriptor_.reset();
}

// Rejects a file that is no state before anything is created beside it.
void Ownership::refuse_others() const {
  HeldHere& here = HeldHere::instance();
  const Lock guard{here.mutex};
  const auto found = identity_of(state_);
  if (found && !here.states.contains(*found)) refuse_no_state(state_);
}

// Like lock(), but if the named holder is dead, waits up to a second for the lock: a child of that
// holder may still share it.
bool Ownership::lock_soon(int descriptor, off_t start, off_t length) const {
  int error = 0;
  (void)try_for_a_second([&] {
    error = lock(descriptor, start, length) ? 0 : errno;
    if (!is_taken(error)) return true;
    const auto holder = read_holder(name_descriptor_.get());
    return !holder || !is_gone(*holder);
  });
  errno = error;
  return error == 0;
}

void Ownership::lock_name() {
  for (int removals = 0; removals < removals_max; ++removals) {
    auto [descriptor, made, failure] = open_or_make_private(name_, O_RDWR);
    name_descriptor_ = std::move(descriptor);
    if (failure != 0) {
      throw StoreError(state_,
                       "cannot be locked: " + quote(name_) + ": " + std::strerror(failure) +
                           "; check that its directory exists and is writable");
    }
    if (!lock_soon(name_descriptor_.get(), 0, 0)) {
      const int error = errno;
      if (!is_taken(error)) {
        throw StoreError(state_, "cannot be locked: " + quote(name_) + ": " + std::strerror(error));
      }
      const auto holder = read_holder(name_descriptor_.get());
      throw StateHeldError(state_, holder ? to_text(*holder) : "another process");
    }
    if (is_at(name_, name_descriptor_.get())) {
      name_made_ = made;
      return;
    }
    name_descriptor_.reset();
  }
  throw StateHeldError(state_, "several processes in turn");
}

void Ownership::lock_state() {
  HeldHere& here = HeldHere::instance();
  const Lock guard{here.mutex};
  for (int removals = 0; removals < removals_max; ++removals) {
    const auto found = identity_of(state_);
    if (found && here.states.contains(*found)) {
      throw StateHeldError(state_, "this process, under another name of the file");
    }
    // If it is a file of another program, its mode does not concern us.
    auto [descriptor, made, failure] = open_or_make_private(state_, O_RDWR, Demand::ours);
    state_descriptor_ = std::move(descriptor);
    if (failure != 0) {
      throw StoreError(state_,
                       std::string{"cannot be written: "} + std::strerror(failure) +
                           "; check its permissions and those of its directory");
    }
    if (!lock_soon(state_descriptor_.get(), state_lock_byte, 1)) {
      const int error = errno;
      if (is_taken(error)) {
        throw StateHeldError(state_, "another process, under another name of the file");
      }
      throw StoreError(state_, std::string{"cannot be locked: "} + std::strerror(error));
    }
    struct stat status {};
    if (fstat(state_descriptor_.get(), &status) != 0) {
      throw StoreError(state_, std::string{"cannot be locked: "} + std::strerror(errno));
    }
    const FileIdentity locked{.device = status.st_dev, .inode = status.st_ino};
    if (identity_of(state_) == locked) {
      state_made_ = made;
      if (status.st_nlink > 1) {
        const std::string description =
            "has several names (hard links); SQLite keeps a log for each name, so changes "
            "made under another name would be lost; remove the other names";
        throw StoreError(
            state_,
            description,
            std::make_exception_ptr(FileRefused{state_,
                                                description,
                                                "the file has several names (hard links)",
                                                user_name(status.st_uid)}));
      }
      held_ = locked;
      here.states.insert(locked);
      return;
    }
    state_descriptor_.reset();
  }
  throw StateHeldError(state_, "several processes in turn");
}

// Another user may have created the file just before SQLite opened it.
void Ownership::require_ours(const std::string& path) const {
  try {
    check_private(path, Demand::ours);
  } catch (const FileError& error) {
    refuse(error);
  }
}

void Ownership::forget_log() noexcept {
  for (Watched& watched : watched_) {
    if (watched.is_log) watched.identity.reset();
  }
}

void Ownership::check() {
  for (Watched& watched : watched_) {
    const auto found = identity_of(watched.path);
    if (!watched.identity) {
      if (found) require_ours(watched.path);
      watched.identity = found;
    } else if (watched.identity != found) {
      throw StoreError(
          state_,
          "is no longer safe to use: " + quote(watched.path) + " was " +
              (found ? "replaced" : "removed") +
              " while in use; put it back, or restart to continue with the current file");
    }
  }
}

}  // namespace dutiful
