#include "commands/output_reader.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dutiful {
namespace {

// How much of the output of one command is read before the others get their turn. A listener has
// work with every line, and until it returns no end of a command is noticed.
constexpr std::size_t heard_per_turn = 4UL * 1024;
constexpr std::size_t unheard_per_turn = 64UL * 1024;

// Whether it has output left, or a process that could write more.
bool is_held(const Descriptor& pipe) {
  pollfd state{.fd = pipe.get(), .events = POLLIN, .revents = 0};
  return poll(&state, 1, 0) >= 0 && state.revents != POLLHUP;
}

}  // namespace

OutputReader::OutputReader(OnOutput on_output)
    : on_output_(std::move(on_output)), buffer_(on_output_ ? heard_per_turn : unheard_per_turn) {}

void OutputReader::read_some(Descriptor& pipe, OutputTail* tail, const RunInfo& run) {
  const ssize_t size = read(pipe.get(), buffer_.data(), buffer_.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size > 0) {
    keep(static_cast<std::size_t>(size), tail, run);
  } else {
    pipe.reset();
  }
}

void OutputReader::read_rest(Descriptor& pipe, OutputTail* tail, const RunInfo& run) {
  int left = 0;
  if (!pipe.is_open()) return;
  if (ioctl(pipe.get(), FIONREAD, &left) != 0) left = 0;
  while (left > 0) {
    const std::size_t wanted = std::min(buffer_.size(), static_cast<std::size_t>(left));
    const ssize_t size = read(pipe.get(), buffer_.data(), wanted);
    if (size <= 0) break;
    keep(static_cast<std::size_t>(size), tail, run);
    left -= static_cast<int>(size);
  }
  if (!is_held(pipe)) pipe.reset();
}

void OutputReader::keep(std::size_t size, OutputTail* tail, const RunInfo& run) {
  const std::string_view chunk{buffer_.data(), size};
  try {
    if (tail != nullptr) tail->append(chunk);
    if (on_output_) on_output_(run, chunk);
  } catch (...) {
    // Only this part of the output is lost.
  }
}

}  // namespace dutiful
