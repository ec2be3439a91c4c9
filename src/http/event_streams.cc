#include "http/event_streams.h"

#include <utility>

#include <microhttpd.h>

#include "http/connections.h"

namespace dutiful::http {

using std::chrono::milliseconds;

class EventStreams::Stream {
 public:
  Stream(MHD_Connection* connection, int descriptor, EventHub::Cursor cursor, Time heartbeat_at)
      : connection_(connection),
        descriptor_(descriptor),
        cursor_(std::move(cursor)),
        heartbeat_at_(heartbeat_at) {}

 private:
  friend class EventStreams;
  MHD_Connection* connection_;
  int descriptor_;  // -1 after forget()
  EventHub::Cursor cursor_;
  Time heartbeat_at_;
  // To be sent before the next event. Clients reconnect after two seconds.
  std::string_view comment_ = "retry: 2000\n\n";
  bool waits_ = false;  // libmicrohttpd has suspended it
};

namespace {

constexpr std::string_view heartbeat_comment = ":\n\n";

bool has_left(int descriptor) {
  pollfd events{.fd = descriptor, .events = POLLRDHUP, .revents = 0};
  return poll(&events, 1, 0) == 1;
}

}  // namespace

EventStreams::EventStreams(EventHub& hub, std::size_t streams_max, milliseconds heartbeat)
    : hub_(hub), streams_max_(streams_max), heartbeat_(heartbeat) {}

EventStreams::~EventStreams() = default;

EventStreams::Stream* EventStreams::open(MHD_Connection* connection,
                                         int descriptor,
                                         std::string_view last_event_id,
                                         Time now) {
  const Lock lock{mutex_};
  if (ending_ || streams_.size() >= streams_max_) return nullptr;
  // First the listener, then the cursor: an event in between is found by one or rings for the
  // other.
  hub_.add_listener();
  try {
    return &streams_.emplace_back(
        connection, descriptor, hub_.after(last_event_id), now + heartbeat_);
  } catch (...) {
    hub_.remove_listener();
    throw;
  }
}

void EventStreams::close(Stream* stream) noexcept {
  const Lock lock{mutex_};
  hub_.remove_listener();
  std::erase_if(streams_, [&](const Stream& one) { return &one == stream; });
}

void EventStreams::forget(int descriptor) noexcept {
  const Lock lock{mutex_};
  for (Stream& stream : streams_) {
    if (stream.descriptor_ == descriptor) stream.descriptor_ = -1;
  }
}

ssize_t EventStreams::read(Stream& stream, char* buffer, std::size_t size) {
  const Lock lock{mutex_};
  if (ending_) return MHD_CONTENT_READER_END_OF_STREAM;
  std::size_t copied = stream.comment_.copy(buffer, size);
  stream.comment_.remove_prefix(copied);
  copied += hub_.read(stream.cursor_, buffer + copied, size - copied);
  if (copied == 0) {
    stream.waits_ = true;
    MHD_suspend_connection(stream.connection_);
  }
  return static_cast<ssize_t>(copied);
}

// The stream may be removed as soon as the mutex is released.
void EventStreams::resume(Stream& stream) {
  stream.waits_ = false;
  MHD_resume_connection(stream.connection_);
}

std::optional<EventStreams::Time> EventStreams::tend(Time now, std::vector<pollfd>& waiting) {
  const Lock lock{mutex_};
  hub_.collect();
  std::optional<Time> next;
  for (Stream& stream : streams_) {
    const bool heartbeat_due = stream.heartbeat_at_ <= now;
    if (heartbeat_due) stream.heartbeat_at_ = now + heartbeat_;
    if (!next || stream.heartbeat_at_ < *next) next = stream.heartbeat_at_;
    if (!stream.waits_) {
      if (hub_.has_lost(stream.cursor_) && stream.descriptor_ >= 0) {
        shut_down(stream.descriptor_);
      }
    } else if (has_left(stream.descriptor_)) {
      shut_down(stream.descriptor_);
      stream.comment_ = heartbeat_comment;  // fails, and so ends the connection
      resume(stream);
    } else if (heartbeat_due || hub_.has_news(stream.cursor_)) {
      if (heartbeat_due) stream.comment_ = heartbeat_comment;
      resume(stream);
    } else {
      waiting.push_back({.fd = stream.descriptor_, .events = POLLRDHUP, .revents = 0});
    }
  }
  return next;
}

void EventStreams::end() noexcept {
  const Lock lock{mutex_};
  ending_ = true;
  for (Stream& stream : streams_) {
    if (stream.waits_) resume(stream);
  }
}

}  // namespace dutiful::http
