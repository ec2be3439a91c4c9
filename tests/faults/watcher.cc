#include "faults/watcher.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dutiful::faults {
namespace {

// Bypasses the shim, which would watch this call.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const long written = syscall(SYS_write, descriptor, text.data(), text.size());
    if (written <= 0) std::abort();
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Watcher& Watcher::instance() {
  static Watcher& watcher = *new Watcher;
  return watcher;
}

Watcher::Watcher() {
  const char* directory = std::getenv(variable_directory);
  if (directory == nullptr) return;
  directory_ = directory;
  if (const char* text = std::getenv(variable_fault)) {
    fault_ = parse_fault(text);
    if (!fault_) {
      write_all(STDERR_FILENO, std::string{variable_fault} + " is no fault: " + text + '\n');
      std::abort();
    }
  }
  if (const char* log = std::getenv(variable_log)) {
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    log_ = static_cast<int>(syscall(SYS_openat, AT_FDCWD, log, flags, 0644));
    if (log_ < 0) std::abort();
  }
}

std::optional<std::string> Watcher::name_of(const char* path) const {
  std::string_view rest{path};
  if (directory_.empty() || !rest.starts_with(directory_)) return std::nullopt;
  rest.remove_prefix(directory_.size());
  if (rest.empty()) return std::string{the_directory};
  if (!rest.starts_with('/')) return std::nullopt;  // another directory whose name begins the same
  rest.remove_prefix(1);
  return std::string{rest.empty() ? the_directory : rest};
}

std::optional<std::string> Watcher::name_of(int descriptor) const {
  const auto found = names_.find(descriptor);
  return found == names_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<Fault> Watcher::fault_for(const Call& call) {
  ++calls_;
  if (!fault_ || calls_ < fault_->at) return std::nullopt;
  if (calls_ == fault_->at) {
    strike(call);
    // The disk was not full from the first byte on.
    if (fault_->scope == Fault::Scope::disk && fault_->error == ENOSPC &&
        call.kind == Kind::write && call.size > 1) {
      return Fault{.at = calls_, .deed = Fault::Deed::shorten};
    }
    return fault_;
  }
  switch (fault_->scope) {
    case Fault::Scope::once:
      return std::nullopt;
    case Fault::Scope::file:
      return call.kind == struck_->kind && call.file == struck_->file ? fault_ : std::nullopt;
    case Fault::Scope::disk:
      return reaches_disk(call.kind, fault_->error) ? fault_ : std::nullopt;
  }
  return std::nullopt;
}

void Watcher::strike(const Call& call) {
  struck_ = call;
  std::string line = struck;
  line.append(" ").append(std::to_string(calls_)).append(" ");
  line.append(faults::name_of(call.kind)).append(" ").append(call.file).append("\n");
  write_all(STDOUT_FILENO, line);
}

void Watcher::said(std::string text) {
  const std::uint64_t size = text.size();
  write_log({.number = 0,
             .call = {.kind = Kind::said, .file = "-", .size = size, .data = std::move(text)}});
}

void Watcher::write_log(const LoggedCall& logged) const {
  if (log_ >= 0) write_all(log_, to_text(logged));
}

void Watcher::die() {
  kill(getpid(), SIGKILL);
  while (true) pause();
}

}  // namespace dutiful::faults
