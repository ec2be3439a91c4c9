#include "store/sqlite/holder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "posix/descriptor.h"
#include "store/sqlite/state_file.h"
#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

constexpr std::string_view before_process = "process ";
constexpr std::string_view before_since = " since ";
constexpr std::string_view before_host = " on ";

// Whether any byte of the file from `begin` on is locked. If this cannot be found out, returns
// nullopt and errno says why.
std::optional<bool> is_locked(int descriptor, off_t begin) {
  struct flock lock {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = begin, .l_len = 0, .l_pid = 0
  };
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return std::nullopt;
  return lock.l_type != F_UNLCK;
}

// For a state whose file that names the holder was removed. Not used while that file exists,
// because closing a descriptor of the state releases SQLite's locks on it in this process.
HolderStatus read_status_without_name(const std::string& state) {
  const Descriptor file{open(state.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file.is_open()) return {};
  const bool held = is_locked(file.get(), state_lock_byte).value_or(false);
  return {.answer = held ? HolderStatus::Answer::held : HolderStatus::Answer::free};
}

}  // namespace

std::string owner_file_of(const std::string& state) {
  return file_beside(state, "-owner");
}

std::string host_name() {
  utsname name{};
  return uname(&name) == 0 ? static_cast<const char*>(name.nodename) : "";
}

std::string to_text(const Holder& holder) {
  std::string text{before_process};
  text.append(std::to_string(holder.process)).append(before_since).append(format_utc(holder.since));
  return holder.host.empty() ? text : text.append(before_host).append(holder.host);
}

std::optional<Holder> parse_holder(const std::string& text) {
  Holder holder;
  std::string_view rest = text;
  if (!rest.starts_with(before_process)) return std::nullopt;
  rest.remove_prefix(before_process.size());
  const auto [end, bad] = std::from_chars(rest.data(), rest.data() + rest.size(), holder.process);
  if (bad != std::errc{}) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!rest.starts_with(before_since)) return std::nullopt;
  rest.remove_prefix(before_since.size());
  const std::size_t on = rest.find(before_host);
  const auto since = parse_timestamp(rest.substr(0, on));
  if (!since || !since->offset) return std::nullopt;
  holder.since = since->instant(*since->offset);
  if (on != std::string_view::npos) holder.host = escape(rest.substr(on + before_host.size()));
  return holder;
}

std::string read_name(int descriptor) {
  std::array<char, 300> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::optional<Holder> read_holder(int descriptor) {
  return parse_holder(read_name(descriptor));
}

bool is_gone(const Holder& holder) {
  return holder.host == host_name() && kill(static_cast<pid_t>(holder.process), 0) != 0 &&
         errno == ESRCH;
}

HolderStatus read_holder_status(const std::string& state) {
  const std::string path = owner_file_of(state);
  const auto unknown = [&](int error) {
    return HolderStatus{.answer = HolderStatus::Answer::unknown,
                        .holder = {},
                        .trouble = quote(path) + " cannot be read: " + std::strerror(error) +
                                   "; run this command as root or as the user of the daemon"};
  };
  // Must not block on a pipe, and must not follow a link.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  if (!file.is_open()) return errno == ENOENT ? read_status_without_name(state) : unknown(errno);
  const auto locked = is_locked(file.get(), 0);
  const int error = errno;
  auto holder = read_holder(file.get());
  if (!locked) return unknown(error);
  return {.answer = *locked ? HolderStatus::Answer::held : HolderStatus::Answer::free,
          .holder = std::move(holder),
          .trouble = {}};
}

}  // namespace dutiful
