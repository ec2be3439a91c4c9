#include "daemon/log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>

namespace dutiful {
namespace {

constexpr std::size_t size_max = 8UL * 1024 * 1024;
constexpr int farewell_ms = 1000;

}  // namespace

Log::Log(int descriptor, TellDropped tell_dropped)
    : descriptor_(descriptor),
      tell_dropped_(std::move(tell_dropped)),
      bell_(eventfd(0, EFD_CLOEXEC)) {
  if (!bell_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  batch_.reserve(PIPE_BUF);
  thread_ = std::thread{[this] { loop(); }};
}

Log::~Log() {
  {
    const Lock lock{mutex_};
    try {
      keep_dropped();
    } catch (const std::exception&) {
      // There is nobody left to tell.
    }
    ending_ = true;
  }
  changed_.notify_one();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof one);
  thread_.join();
}

void Log::write(std::string line) noexcept {
  {
    const Lock lock{mutex_};
    if (size_ + line.size() >= size_max) {
      ++dropped_;
      return;
    }
    try {
      line += '\n';
      keep_dropped();
      keep(std::move(line));
    } catch (const std::exception&) {
      ++dropped_;
    }
  }
  changed_.notify_one();
}

void Log::keep(std::string line) {
  const std::size_t size = line.size();
  lines_.push_back(std::move(line));
  size_ += size;
}

void Log::keep_dropped() {
  if (dropped_ == 0) return;
  keep(tell_dropped_(dropped_) + '\n');
  dropped_ = 0;
}

// Takes no memory: there may be none.
void Log::loop() noexcept {
  sigset_t all;  // also SIGPIPE: a reader that goes away is no reason to end
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Lock lock{mutex_};
  while (true) {
    while (!ending_ && lines_.empty()) changed_.wait(lock);
    if (lines_.empty()) return;
    const std::string first = std::move(lines_.front());
    lines_.pop_front();
    batch_.clear();
    if (first.size() <= batch_.capacity()) {
      batch_ += first;
      while (!lines_.empty() && batch_.size() + lines_.front().size() <= batch_.capacity()) {
        batch_ += lines_.front();
        lines_.pop_front();
      }
    }
    const std::string_view text = batch_.empty() ? first : batch_;
    lock.unlock();
    const bool read = put(text);
    lock.lock();
    size_ -= text.size();
    if (!read && ending_) return;
  }
}

// False where nobody reads it.
bool Log::put(std::string_view text) {
  while (!text.empty()) {
    if (!await_reader()) return false;
    // No more than a pipe takes at once when it says that it is ready.
    const ssize_t size =
        ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return true;  // it is lost, and the next line may fare better
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool Log::await_reader() {
  std::array<pollfd, 2> waiting{{{.fd = descriptor_, .events = POLLOUT, .revents = 0},
                                 {.fd = bell_.get(), .events = POLLIN, .revents = 0}}};
  (void)poll(waiting.data(), waiting.size(), -1);
  if (waiting[0].revents != 0) return true;
  return poll(waiting.data(), 1, farewell_ms) > 0;
}

}  // namespace dutiful
