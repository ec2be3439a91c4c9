// Lets the disk fail, in programs that link this.
#pragma once

#include <functional>
#include <string>

#include <sys/resource.h>

namespace dutiful {

// While one lives, it is asked before every fsync() and fdatasync(), with the path of the file. If
// it answers true, the call fails, and what was written may or may not be on the disk. For one
// thread.
class SyncFault {
 public:
  using Fails = std::function<bool(const std::string& path)>;
  explicit SyncFault(Fails fails);
  ~SyncFault();
  SyncFault(const SyncFault&) = delete;
  SyncFault& operator=(const SyncFault&) = delete;
};

// While one lives, no byte can be written to a file.
class WriteFault {
 public:
  WriteFault();
  ~WriteFault();
  WriteFault(const WriteFault&) = delete;
  WriteFault& operator=(const WriteFault&) = delete;

 private:
  rlimit limit_{};
  void (*handler_)(int);
};

}  // namespace dutiful
