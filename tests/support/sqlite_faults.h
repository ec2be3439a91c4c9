// Makes SQLite's calls to the system fail.
#pragma once

#include <cerrno>
#include <cstdarg>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sqlite3.h>

namespace dutiful {

// During its life, SQLite asks it before it opens or unlocks a file, and sleeps without taking
// time. Create it before the connections that it concerns; it must outlive them. Only one at a
// time, for one thread.
class SqliteFaults {
 public:
  std::function<bool(const struct flock& range)> unlock_fails;
  std::function<bool(const std::string& path)> open_fails;

  SqliteFaults() {
    current_ = this;
    vfs_.zName = "faulty";
    vfs_.xSleep = [](sqlite3_vfs* /*vfs*/, int microseconds) { return microseconds; };
    vfs_.xOpen = &open_unless_faulty;
    sqlite3_vfs_register(&vfs_, 1);
    set_fcntl(reinterpret_cast<sqlite3_syscall_ptr>(&fcntl_unless_faulty));
  }
  ~SqliteFaults() {
    set_fcntl(nullptr);
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(system_, 1);
    current_ = nullptr;
  }
  SqliteFaults(const SqliteFaults&) = delete;
  SqliteFaults& operator=(const SqliteFaults&) = delete;

 private:
  void set_fcntl(sqlite3_syscall_ptr call) { system_->xSetSystemCall(system_, "fcntl", call); }

  static int open_unless_faulty(
      sqlite3_vfs* /*vfs*/, const char* path, sqlite3_file* file, int flags, int* flags_had) {
    file->pMethods = nullptr;  // nothing to close
    const auto& fails = current_->open_fails;
    if (fails && path != nullptr && fails(path)) return SQLITE_CANTOPEN;
    return current_->system_->xOpen(current_->system_, path, file, flags, flags_had);
  }

  static int fcntl_unless_faulty(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    const auto& fails = current_->unlock_fails;
    if (command == F_SETLK && fails) {
      const auto* range = static_cast<const struct flock*>(argument);
      if (range->l_type == F_UNLCK && fails(*range)) {
        errno = ENOLCK;
        return -1;
      }
    }
    return fcntl(descriptor, command, argument);
  }

  inline static SqliteFaults* current_ = nullptr;
  sqlite3_vfs* system_ = sqlite3_vfs_find(nullptr);
  sqlite3_vfs vfs_ = *system_;
};

}  // namespace dutiful
