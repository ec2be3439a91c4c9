#include "commands/command_input.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands/spawn.h"

namespace dutiful {
namespace {

[[noreturn]] void fail() {
  throw SpawnError(std::string{"cannot get a file for its input: "} + std::strerror(errno));
}

}  // namespace

Descriptor input_of(std::string_view text) {
  Descriptor file{memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!file.is_open()) fail();
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) fail();
  // Its reader may be another user. Older kernels may lack a seal, and the input serves without.
  (void)fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

}  // namespace dutiful
