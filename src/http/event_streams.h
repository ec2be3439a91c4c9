// The connections on which events are sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "http/event_hub.h"
#include "sync/mutex.h"

struct MHD_Connection;

namespace dutiful::http {

// A stream that has sent everything is suspended: it needs no thread, and libmicrohttpd does not
// look at it. tend() resumes it when there is an event, when a heartbeat is due, and when its
// client leaves.
//
// A stream that cannot send, because its client does not read, is shut down as soon as events that
// it has not sent are no longer kept. The client can continue where it was, with Last-Event-ID.
class EventStreams {
 public:
  using Time = std::chrono::steady_clock::time_point;
  EventStreams(EventHub& hub, std::size_t streams_max, std::chrono::milliseconds heartbeat);
  ~EventStreams();
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  class Stream;
  // Returns nullptr if there are too many.
  Stream* open(MHD_Connection* connection,
               int descriptor,
               std::string_view last_event_id,
               Time now);
  // When libmicrohttpd no longer reads from it.
  void close(Stream* stream) noexcept;
  // Before the descriptor is closed.
  void forget(int descriptor) noexcept;

  // Reads for libmicrohttpd, as MHD_ContentReaderCallback: suspends the connection and returns 0 if
  // there is nothing to send.
  ssize_t read(Stream& stream, char* buffer, std::size_t size);

  // Resumes and shuts down. Appends the descriptors of waiting streams, to be polled for
  // the end of their connections. Returns when to call it again at the latest.
  std::optional<Time> tend(Time now, std::vector<pollfd>& waiting);
  // Ends all streams; no new one waits.
  void end() noexcept;

 private:
  static void resume(Stream& stream);  // requires the mutex

  EventHub& hub_;
  const std::size_t streams_max_;
  const std::chrono::milliseconds heartbeat_;
  Mutex mutex_;
  std::list<Stream> streams_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
};

}  // namespace dutiful::http
