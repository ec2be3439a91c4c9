#include "daemon/log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <exception>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace dutiful {

using std::chrono::milliseconds;

namespace {

constexpr std::size_t records_max = 8UL * 1024 * 1024;
constexpr std::size_t output_max = 1024UL * 1024;

}  // namespace

Log::Log(int descriptor, FormatDropped format_dropped, CloseTimeouts timeouts)
    : descriptor_(descriptor), format_dropped_(std::move(format_dropped)), timeouts_(timeouts) {
  batch_.reserve(PIPE_BUF);
  thread_ = std::thread{[this] { loop(); }};
}

Log::~Log() {
  {
    const Lock lock{mutex_};
    deadline_ = Steady::now() + timeouts_.total_max;
    ending_ = true;
  }
  changed_.notify_one();
  bell_.ring();
  thread_.join();
}

void Log::write(std::string line) noexcept {
  {
    const Lock lock{mutex_};
    try {
      keep(std::move(line), Kind::record);
      while (records_size_ > records_max) drop_first();
    } catch (const std::exception&) {
      count_dropped();
    }
  }
  changed_.notify_one();
}

// Whether there is room for a line; if not, the line is dropped. After the room has run out, no
// line is admitted until half of it is free, because each gap costs another line.
bool Log::admit_output() noexcept {
  const Lock lock{mutex_};
  if (output_size_ >= output_max) output_is_full_ = true;
  if (output_size_ <= output_max / 2) output_is_full_ = false;
  if (output_is_full_) count_dropped();
  return !output_is_full_;
}

void Log::keep_output(std::string line) {
  {
    const Lock lock{mutex_};
    keep(std::move(line), Kind::output);
  }
  changed_.notify_one();
}

void Log::drop() noexcept {
  const Lock lock{mutex_};
  count_dropped();
}

void Log::keep(std::string line, Kind kind) {
  line += '\n';
  lines_.push_back({.text = std::move(line), .kind = kind, .dropped = dropped_});
  dropped_ = 0;
  size_of_all(kind) += size_of(lines_.back());
}

Log::Line Log::take_first() {
  Line first = std::move(lines_.front());
  lines_.pop_front();
  size_of_all(first.kind) -= size_of(first);
  return first;
}

void Log::drop_first() {
  const std::size_t count = take_first().dropped + 1;
  ++lost_;
  (lines_.empty() ? dropped_ : lines_.front().dropped) += count;
}

// The first line, or a line that reports those missing before it; empty when all are written.
std::string Log::next_text() noexcept {
  std::size_t& missing = lines_.empty() ? dropped_ : lines_.front().dropped;
  if (missing > 0) {
    try {
      std::string text = format_dropped_(missing) + '\n';
      missing = 0;
      return text;
    } catch (const std::exception&) {
      if (lines_.empty()) return {};  // the log ends here, and the count is lost
      const std::size_t unreported = std::exchange(missing, 0);
      std::string text = take_first().text;
      (lines_.empty() ? dropped_ : lines_.front().dropped) += unreported;
      return text;
    }
  }
  return lines_.empty() ? std::string{} : take_first().text;
}

// Allocates as little as possible, because memory may have run out.
void Log::loop() noexcept {
  sigset_t all;  // also SIGPIPE: the daemon survives the end of the reader
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Lock lock{mutex_};
  while (true) {
    while (!ending_ && lines_.empty()) changed_.wait(lock);
    const std::string first = next_text();
    if (first.empty()) return;
    batch_.clear();
    if (first.size() <= batch_.capacity()) {
      batch_ += first;
      while (!lines_.empty() && lines_.front().dropped == 0 &&
             batch_.size() + lines_.front().text.size() <= batch_.capacity()) {
        batch_ += take_first().text;
      }
    }
    lock.unlock();
    const bool read = put(batch_.empty() ? first : batch_);
    lock.lock();
    if (!read && ending_) return;
  }
}

// False if nobody reads it in time.
bool Log::put(std::string_view text) {
  while (!text.empty()) {
    if (!await_reader()) return false;
    // No more than a pipe that is ready takes without blocking.
    const ssize_t size =
        ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return true;  // the line is lost; the next one may succeed
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool Log::await_reader() {
  std::array<pollfd, 2> waiting{{{.fd = descriptor_, .events = POLLOUT, .revents = 0},
                                 {.fd = bell_.descriptor(), .events = POLLIN, .revents = 0}}};
  (void)poll(waiting.data(), waiting.size(), -1);
  if (waiting[0].revents != 0) return true;
  return poll(waiting.data(), 1, static_cast<int>(reader_timeout().count())) > 0;
}

// How long the thread may still wait for a reader, once the destructor runs.
milliseconds Log::reader_timeout() {
  const Lock lock{mutex_};
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - Steady::now());
  return std::clamp(left, milliseconds::zero(), timeouts_.idle_max);
}

}  // namespace dutiful
