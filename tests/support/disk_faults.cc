#include "support/disk_faults.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <dlfcn.h>
#include <unistd.h>

namespace {

dutiful::SyncFault::Fails& fault() {
  static dutiful::SyncFault::Fails fails;
  return fails;
}

bool fails(int descriptor) {
  if (!fault()) return false;
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size());
  return size > 0 && fault()({path.data(), static_cast<std::size_t>(size)});
}

using Sync = int (*)(int);

int sync_unless_faulty(int descriptor, const char* name) {
  if (fails(descriptor)) {
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<Sync>(dlsym(RTLD_NEXT, name))(descriptor);
}

}  // namespace

// These replace the functions of the system and call them.
extern "C" int fsync(int descriptor) {
  return sync_unless_faulty(descriptor, "fsync");
}
extern "C" int fdatasync(int descriptor) {
  return sync_unless_faulty(descriptor, "fdatasync");
}

namespace dutiful {

SyncFault::SyncFault(Fails fails) {
  fault() = std::move(fails);
}
SyncFault::~SyncFault() {
  fault() = nullptr;
}

WriteFault::WriteFault() : handler_(signal(SIGXFSZ, SIG_IGN)) {
  getrlimit(RLIMIT_FSIZE, &limit_);
  const rlimit none{.rlim_cur = 0, .rlim_max = limit_.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
}
WriteFault::~WriteFault() {
  setrlimit(RLIMIT_FSIZE, &limit_);
  (void)signal(SIGXFSZ, handler_);
}

}  // namespace dutiful
