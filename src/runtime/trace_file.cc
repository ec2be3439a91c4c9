#include "runtime/trace_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <dutiful/errors.h>

#include "files/private_file.h"
#include "posix/file_identity.h"
#include "runtime/damaged_trace.h"
#include "sync/try_again.h"
#include "text/quote.h"

namespace dutiful {
namespace {

// How much of the file is whole lines: a scheduler that is killed, or a disk that is full, may
// leave a part of one behind.
off_t end_of_lines(int descriptor, off_t size) {
  constexpr off_t block_size = 4096;
  std::string block;
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(0, end - block_size);
    block.resize(static_cast<std::size_t>(end - begin));
    if (pread(descriptor, block.data(), block.size(), begin) != end - begin) return size;
    const auto newline = block.rfind('\n');
    if (newline != std::string::npos) return begin + static_cast<off_t>(newline) + 1;
    end = begin;
  }
  return 0;
}

// A part of a line has no zeros: those are sectors that never reached the disk.
bool has_zeros(int descriptor, off_t begin, off_t end) {
  std::array<char, 4096> block{};
  while (begin < end) {
    const auto size = std::min<off_t>(end - begin, block.size());
    if (pread(descriptor, block.data(), static_cast<std::size_t>(size), begin) != size)
      return false;
    if (std::find(block.begin(), block.begin() + size, '\0') != block.begin() + size) return true;
    begin += size;
  }
  return false;
}

template <typename Policy>
std::string text_of(const std::optional<Policy>& policy) {
  return policy ? std::string{name_of(*policy)} : "the default";
}

// What is not the same in two headers: "max-concurrent is 64 there and 5 here".
std::string differences(const TraceHeader& there, const TraceHeader& here) {
  std::string text;
  const auto compare = [&](const char* what, const std::string& one, const std::string& other) {
    if (one == other) return;
    text.append(text.empty() ? "" : ", ").append(what).append(" is ");
    text.append(one).append(" there and ").append(other).append(" here");
  };
  compare("the zone", quote(there.zone), quote(here.zone));
  compare(
      "max-concurrent", std::to_string(there.max_concurrent), std::to_string(here.max_concurrent));
  compare("the policy of repeated minutes",
          text_of(there.repeated_minutes),
          text_of(here.repeated_minutes));
  compare("that of a second initialize()", text_of(there.reinitialize), text_of(here.reinitialize));
  compare("that of overridden tasks", text_of(there.override), text_of(here.override));
  return text.empty() ? "its header is written otherwise" : text;
}

constexpr const char* no_trace = "is not a trace, and left as it is; use another file";

std::string damage_of(const MalformedTrace& error) {
  return "is malformed at line " + std::to_string(error.line()) + ": " + error.what();
}

}  // namespace

TraceFile::TraceFile(std::string file, TraceHeader header, const Zone& zone, TraceListener listener)
    : file_(std::move(file)), header_(std::move(header)), listener_(std::move(listener)) {
  if (listener_.violated) {
    monitor_.emplace(theory::setting_of(header_, zone), [this](const theory::Violation& violation) {
      if (!reading_) listener_.violated(violation);
    });
  }
  open_file();
  if (const std::string damage = take_over(); !damage.empty()) begin_anew(damage);
  recovered_ = !in_flight_.alive();
}

TraceFile::~TraceFile() {
  flush();
}

void TraceFile::fail(const std::string& reason) {
  throw TraceError(file_, reason);
}

void TraceFile::open_file() {
  // Whoever had it before may have set it aside while this one waited for the lock.
  constexpr int tries_max = 10;
  for (int tries = 1; tries <= tries_max; ++tries) {
    descriptor_ = open_for_ourselves();
    lock_file();
    if (is_at(file_, descriptor_.get())) return;
    descriptor_.reset();
  }
  fail("is replaced again and again; use another file");
}

Descriptor TraceFile::open_for_ourselves() {
  try {
    PrivateFile file = open_or_make_private(file_, O_RDWR | O_APPEND);
    if (file.descriptor.is_open()) return std::move(file.descriptor);
    fail(std::string{"cannot be written: "} + std::strerror(file.error) +
         "; check that its directory exists and may be written");
  } catch (const FileError& error) {
    throw TraceError(file_, error.description(), std::current_exception());
  }
}

void TraceFile::lock_file() {
  int error = 0;
  (void)try_for_a_second([&] {
    error = flock(descriptor_.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    return error != EWOULDBLOCK;
  });
  if (error != 0) {
    fail(error == EWOULDBLOCK
             ? "is in use by another scheduler; stop that one first, or use another file"
             : std::string{"cannot be locked: "} + std::strerror(error));
  }
}

std::string TraceFile::take_over() {
  const off_t size = lseek(descriptor_.get(), 0, SEEK_END);
  if (size > 0) {
    if (std::string damage = check_header(static_cast<std::size_t>(size)); !damage.empty()) {
      return damage;
    }
  }
  const off_t whole = size < 0 ? size : end_of_lines(descriptor_.get(), size);
  if (has_zeros(descriptor_.get(), whole, size)) return "ends with zeros instead of its last lines";
  if (size < 0 || (whole != size && ftruncate(descriptor_.get(), whole) != 0)) {
    fail(std::string{"cannot be written: "} + std::strerror(errno));
  }
  if (whole > 0) return read_file();
  unwritten_ = to_line(header_) + '\n';
  flush();
  if (failing_) fail("cannot be written: the disk may be full");
  lines_ = 1;
  return "";
}

std::ifstream TraceFile::open_to_read() {
  std::ifstream in{file_};
  if (!in) fail(std::string{"cannot be read: "} + std::strerror(errno));
  return in;
}

// Before anything is cut off: a file that is no trace stays as it is.
std::string TraceFile::check_header(std::size_t size) {
  const std::string header = to_line(header_) + '\n';
  std::string text(std::min(size, header.size()), '\0');
  const ssize_t read = pread(descriptor_.get(), text.data(), text.size(), 0);
  if (read != static_cast<ssize_t>(text.size())) fail("cannot be read");
  if (text == header || (size < header.size() && header.starts_with(text))) return "";
  std::ifstream in = open_to_read();
  if (text.front() == '\0') {
    if (is_damaged_trace(in)) return "begins with zeros instead of its header";
    fail(no_trace);
  }
  try {
    const TraceReader reader{in};
    fail("is of a scheduler with other options: " + differences(reader.header(), header_) +
         "; use another file, or the same options");
  } catch (const MalformedTrace& error) {
    if (in.bad()) fail("cannot be read");
    in.clear();
    in.seekg(0);
    if (!is_damaged_trace(in)) fail(no_trace);
    return damage_of(error);
  }
}

// What earlier schedulers did, for what follows from it.
std::string TraceFile::read_file() {
  reading_ = true;
  std::ifstream in = open_to_read();
  try {
    TraceReader reader{in};
    for (TracedEvent event; reader.read(event);) {
      in_flight_.on(event.at, event.event);
      if (monitor_) monitor_->on(reader.line(), event.at, event.event);
      latest_ = event.at;
    }
    lines_ = reader.line();
  } catch (const MalformedTrace& error) {
    // No memory for a line looks the same as a disk that cannot be read, and the file may be whole.
    if (in.bad()) fail(damage_of(error) + "; use another file");
    return damage_of(error);
  }
  reading_ = false;
  return "";
}

// The damaged one stays locked until the new one is: so nobody comes in between.
void TraceFile::begin_anew(const std::string& damage) {
  std::string name;
  try {
    name = set_aside(file_);
  } catch (const std::system_error& error) {
    fail(damage + ", and cannot be renamed: " + error.code().message() + "; use another file");
  }
  // At once: if a new one cannot begin, the next start finds no damage any more.
  if (listener_.set_aside) listener_.set_aside({std::move(name), damage});
  in_flight_ = {};
  latest_ = Instant::min();
  lines_ = 0;
  reading_ = false;
  monitor_.reset();
  const Descriptor damaged = std::move(descriptor_);
  open_file();
  if (const std::string again = take_over(); !again.empty()) fail(again + "; use another file");
}

void TraceFile::on(Instant at, const TraceEvent& event) {
  if (recovered_) return add(at, event);
  if (const auto* failure = std::get_if<InitFailure>(&event); failure != nullptr && failure->call) {
    // It did not come to the state, so there is nothing to tell the crash by. Another may.
    std::erase_if(waiting_, [&](const TracedEvent& waiting) {
      const auto* start = std::get_if<InitStart>(&waiting.event);
      return start != nullptr && start->call == failure->call;
    });
  } else if (failure != nullptr || std::holds_alternative<Crash>(event)) {
    waiting_.clear();
  } else {
    waiting_.push_back({at, event});
  }
}

void TraceFile::recover(std::span<const DurableTask> state) {
  for (const TracedEvent& event : in_flight_.missing_events(state)) add(event.at, event.event);
  // It was after the last thing that it told.
  add(latest_, Crash{});
  recovered_ = true;
  for (const TracedEvent& event : std::exchange(waiting_, {})) add(event.at, event.event);
}

// A trace has no clock that is set back.
void TraceFile::add(Instant at, const TraceEvent& event) {
  if (ended_) return;
  latest_ = std::max(latest_, at);
  const std::string line = to_line(latest_, event) + '\n';
  // Where memory runs out, the file has the event or has not, but never a part of its line.
  if (unwritten_.capacity() - unwritten_.size() < line.size()) {
    unwritten_.reserve(2 * unwritten_.size() + line.size());
  }
  in_flight_.on(latest_, event);
  if (monitor_) monitor_->on(lines_ + 1, latest_, event);
  unwritten_.append(line);
  ++lines_;
}

void TraceFile::flush() {
  while (!unwritten_.empty()) {
    const ssize_t written = write(descriptor_.get(), unwritten_.data(), unwritten_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written > 0) {
      unwritten_.erase(0, static_cast<std::size_t>(written));
      continue;
    }
    const std::string error = std::strerror(errno);
    if (unwritten_.size() > unwritten_max) {
      ended_ = true;
      unwritten_ = {};
      listener_.failed("the trace " + file_ + " ends here: " + error);
    } else if (!std::exchange(failing_, true)) {
      listener_.failed("the trace " + file_ + " cannot be written for now: " + error);
    }
    return;
  }
  failing_ = false;
}

}  // namespace dutiful
