// Makes the disk fail, in programs that link this.
#pragma once

#include <functional>
#include <string>

#include <sys/resource.h>

namespace dutiful {

// During its life, it is asked before every fsync() and fdatasync(), with the path of the file. If
// it returns true, the call fails, and the data written may or may not be on the disk. For one
// thread.
class SyncFault {
 public:
  using Fails = std::function<bool(const std::string& path)>;
  explicit SyncFault(Fails fails);
  ~SyncFault();
  SyncFault(const SyncFault&) = delete;
  SyncFault& operator=(const SyncFault&) = delete;
};

// During its life, every write to a file fails.
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
