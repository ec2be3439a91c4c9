// The functions of the C library through which SQLite and dutiful access files, for LD_PRELOAD.
// Calls on files of the state go through the Watcher; all others are passed on.
//
// Mappings of files into memory are not watched: SQLite maps only the index of its log, and its
// content does not outlive the processes that share it. Queries (stat, access) change nothing and
// are not watched either.

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/watcher.h"

namespace {

using dutiful::faults::Call;
using dutiful::faults::Kind;
using dutiful::faults::Watcher;

static_assert(sizeof(off_t) == 8, "a file's size has one form, and functions with 64 are the same");

// The function that this library replaces.
template <typename Function>
Function* next(Function& /*of this type*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(function)                                     \
  ([]() noexcept {                                         \
    static const auto found = next(::function, #function); \
    return found;                                          \
  }())

// A call on a descriptor, watched if it belongs to the state. `about` adds the details.
template <typename Perform, typename About>
ssize_t on_descriptor(int descriptor, Kind kind, std::size_t size, Perform perform, About about) {
  Watcher& watcher = Watcher::instance();
  auto lock = watcher.lock();
  auto name = watcher.name_of(descriptor);
  if (!name) {
    lock.unlock();
    return perform(size);
  }
  Call call{.kind = kind, .file = std::move(*name), .size = size};
  about(call);
  return watcher.make(std::move(call), perform);
}
template <typename Perform>
ssize_t on_descriptor(int descriptor, Kind kind, std::size_t size, Perform perform) {
  return on_descriptor(descriptor, kind, size, perform, [](Call&) {});
}

template <typename Perform>
int open_file(const char* path, int flags, Perform perform) {
  Watcher& watcher = Watcher::instance();
  auto lock = watcher.lock();
  const auto name = watcher.name_of(path);
  if (!name) {
    lock.unlock();
    return static_cast<int>(perform(0));
  }
  struct stat status {};
  const bool is_there = stat(path, &status) == 0;
  if (is_there && (flags & O_TRUNC) != 0) std::abort();  // not used here, and not modelled
  const bool creates = !is_there && (flags & O_CREAT) != 0;
  const auto descriptor = static_cast<int>(
      watcher.make({.kind = creates ? Kind::create : Kind::open, .file = *name}, perform));
  if (descriptor >= 0) watcher.opened(descriptor, *name);
  return descriptor;
}

bool has_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

off_t place_of_write(int descriptor) {
  if ((NEXT(fcntl)(descriptor, F_GETFL) & O_APPEND) == 0) return lseek(descriptor, 0, SEEK_CUR);
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? status.st_size : 0;
}

std::string bytes(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = has_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, [&](std::size_t) { return NEXT(open)(path, flags, mode); });
}

int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = has_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(
      path, flags, [&](std::size_t) { return NEXT(openat)(directory, path, flags, mode); });
}

// Streams: the C++ library opens and closes files with these, and reads with read().
FILE* fopen(const char* path, const char* mode) {
  FILE* stream = nullptr;
  const bool reads = *mode == 'r';
  const int descriptor = open_file(path, reads ? O_RDONLY : O_CREAT | O_TRUNC, [&](std::size_t) {
    stream = NEXT(fopen)(path, mode);
    return stream == nullptr ? -1 : fileno(stream);
  });
  return descriptor < 0 ? nullptr : stream;
}

int fclose(FILE* stream) {
  auto& watcher = Watcher::instance();
  {
    const auto lock = watcher.lock();
    watcher.closed(fileno(stream));
  }
  return NEXT(fclose)(stream);
}

ssize_t read(int descriptor, void* data, std::size_t size) {
  return on_descriptor(descriptor, Kind::read, size, [&](std::size_t count) {
    return NEXT(read)(descriptor, data, count);
  });
}

ssize_t pread(int descriptor, void* data, std::size_t size, off_t offset) {
  return on_descriptor(descriptor, Kind::read, size, [&](std::size_t count) {
    return NEXT(pread)(descriptor, data, count, offset);
  });
}

ssize_t write(int descriptor, const void* data, std::size_t size) {
  if (descriptor == STDOUT_FILENO) {
    Watcher& watcher = Watcher::instance();
    const auto lock = watcher.lock();
    const ssize_t written = NEXT(write)(descriptor, data, size);
    watcher.said(bytes(data, size));
    return written;
  }
  return on_descriptor(
      descriptor,
      Kind::write,
      size,
      [&](std::size_t count) { return NEXT(write)(descriptor, data, count); },
      [&](Call& call) {
        call.offset = place_of_write(descriptor);
        call.data = bytes(data, size);
      });
}

ssize_t pwrite(int descriptor, const void* data, std::size_t size, off_t offset) {
  return on_descriptor(
      descriptor,
      Kind::write,
      size,
      [&](std::size_t count) { return NEXT(pwrite)(descriptor, data, count, offset); },
      [&](Call& call) {
        call.offset = offset;
        call.data = bytes(data, size);
      });
}

int ftruncate(int descriptor, off_t size) noexcept {
  return static_cast<int>(on_descriptor(
      descriptor,
      Kind::truncate,
      0,
      [&](std::size_t) { return NEXT(ftruncate)(descriptor, size); },
      [&](Call& call) { call.offset = size; }));
}

int fsync(int descriptor) {
  return static_cast<int>(
      on_descriptor(descriptor, Kind::sync, 0, [](std::size_t) { return ssize_t{0}; }));
}

int fdatasync(int descriptor) {
  return fsync(descriptor);
}

int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);  // an int is passed the same way
  va_end(rest);
  const auto perform = [&](std::size_t) { return NEXT(fcntl)(descriptor, command, argument); };
  switch (command) {
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: {
      const bool unlocks = static_cast<const struct flock*>(argument)->l_type == F_UNLCK;
      return static_cast<int>(
          on_descriptor(descriptor, unlocks ? Kind::unlock : Kind::lock, 0, perform));
    }
    default:
      return perform(0);
  }
}

int flock(int descriptor, int operation) noexcept {
  const bool unlocks = (operation & LOCK_UN) != 0;
  return static_cast<int>(
      on_descriptor(descriptor, unlocks ? Kind::unlock : Kind::lock, 0, [&](std::size_t) {
        return NEXT(flock)(descriptor, operation);
      }));
}

int unlink(const char* path) noexcept {
  Watcher& watcher = Watcher::instance();
  const auto lock = watcher.lock();
  const auto name = watcher.name_of(path);
  if (!name) return NEXT(unlink)(path);
  return static_cast<int>(watcher.make({.kind = Kind::unlink, .file = *name},
                                       [&](std::size_t) { return NEXT(unlink)(path); }));
}

int rename(const char* from, const char* to) noexcept {
  Watcher& watcher = Watcher::instance();
  const auto lock = watcher.lock();
  const auto old_name = watcher.name_of(from);
  const auto new_name = watcher.name_of(to);
  if (old_name.has_value() != new_name.has_value()) std::abort();  // not used here
  if (!old_name) return NEXT(rename)(from, to);
  return static_cast<int>(watcher.make({.kind = Kind::rename, .file = *old_name, .data = *new_name},
                                       [&](std::size_t) { return NEXT(rename)(from, to); }));
}

int close(int descriptor) {
  return static_cast<int>(on_descriptor(
      descriptor,
      Kind::close,
      0,
      [&](std::size_t) { return NEXT(close)(descriptor); },
      [&](Call&) { Watcher::instance().closed(descriptor); }));
}

// SQLite and dutiful count the time they wait for a lock and do not measure it, so a test need not
// sleep.
int usleep(useconds_t /*time*/) {
  return 0;
}
int nanosleep(const timespec* /*time*/, timespec* /*left*/) {
  return 0;
}
int poll(pollfd* descriptors, nfds_t count, int timeout) {
  return count == 0 ? 0 : NEXT(poll)(descriptors, count, timeout);
}

// With 64-bit offsets, as here, these are the same functions under other names.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char* path, int flags, ...) __attribute__((alias("openat")));
FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));
ssize_t pread64(int, void*, std::size_t, off_t) __attribute__((alias("pread")));
ssize_t pwrite64(int, const void*, std::size_t, off_t) __attribute__((alias("pwrite")));
int ftruncate64(int, off_t) noexcept __attribute__((alias("ftruncate")));
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

}  // extern "C"
