// Watches the calls of this process on the files of its state: counts them, logs them, and makes
// the chosen one go wrong.
//
// It does not perform syncs: the kernel keeps what a killed process has written, and the log shows
// what a power cut would leave (disk.h). So thousands of lives can be tried in a minute.
#pragma once

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include <sys/types.h>

#include "faults/call.h"
#include "faults/fault.h"

namespace dutiful::faults {

class Watcher {
 public:
  // The watcher of this process, configured by its environment. Never destroyed, because files are
  // closed until the very end of the process.
  static Watcher& instance();

  // Callers of the functions below hold this lock, so that the log has the calls in the order in
  // which they took effect.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock{mutex_}; }

  // The name of a file of the state by its path; nothing for any other file.
  [[nodiscard]] std::optional<std::string> name_of(const char* path) const;
  // The same by a descriptor.
  [[nodiscard]] std::optional<std::string> name_of(int descriptor) const;
  void opened(int descriptor, std::string name) { names_[descriptor] = std::move(name); }
  void closed(int descriptor) { names_.erase(descriptor); }

  // Makes a call. `perform(size)` performs it with that many bytes and returns its result, with
  // errno.
  template <typename Perform>
  ssize_t make(Call call, Perform perform);

  // Logs a line on standard output.
  void said(std::string text);

 private:
  Watcher();

  // The fault of the call that is about to be made.
  std::optional<Fault> fault_for(const Call& call);
  void strike(const Call& call);
  void write_log(const LoggedCall& logged) const;
  [[noreturn]] static void die();

  std::mutex mutex_;
  std::string directory_;
  std::optional<Fault> fault_;
  std::optional<Call> struck_;  // the first call that the fault struck
  int log_ = -1;
  std::uint64_t calls_ = 0;
  std::unordered_map<int, std::string> names_;  // by descriptor
};

template <typename Perform>
ssize_t Watcher::make(Call call, Perform perform) {
  const auto fault = fault_for(call);
  using Deed = Fault::Deed;
  if (fault && fault->deed == Deed::kill_before) die();
  if (fault && fault->deed == Deed::kill_within) {
    (void)perform(call.size / 2);
    die();
  }
  if (fault && fault->deed == Deed::fail) {
    if (call.kind == Kind::close) (void)perform(0);  // a failed close still closes
    write_log({.number = calls_, .succeeded = false, .call = std::move(call)});
    errno = fault->error;
    return -1;
  }
  if (fault && fault->deed == Deed::shorten) {
    call.size /= 2;
    if (call.kind == Kind::write) call.data.resize(call.size);
  }
  const ssize_t result = perform(call.size);
  const int error = errno;
  if (fault && fault->deed == Deed::kill_after) die();
  write_log({.number = calls_, .succeeded = result >= 0, .call = std::move(call)});
  errno = error;
  return result;
}

}  // namespace dutiful::faults
