// Server-sent events: the recent ones are kept, so that a client can continue after a break.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "posix/bell.h"
#include "sync/mutex.h"

namespace dutiful::http {

// Events are numbered from 1. Their ids have the form `<boot>-<number>`, where boot is a random
// name of this hub: an id of an earlier daemon is recognized as one, and does not point at an event
// that has the number by chance.
//
// publish() takes no lock and waits for nobody: it puts the event into an inbox. The readers move
// events from there to the ring of recent events, which has a mutex. Thread-safe.
class EventHub {
 public:
  struct Limits {
    std::size_t events_max = 4'096;             // kept, and as many in the inbox
    std::size_t bytes_max = 2UL * 1024 * 1024;  // likewise
  };
  EventHub() : EventHub(Limits{}) {}
  explicit EventHub(Limits limits);
  EventHub(Limits limits, std::string boot);
  ~EventHub();
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  // Publishes an event: a name of letters, and a JSON text on one line. If there is no memory or
  // the inbox is full, the event is lost, and readers learn how many are.
  void publish(std::string_view name, std::string json) noexcept;

  // A position among the events.
  class Cursor {
   private:
    friend class EventHub;
    std::uint64_t next_ = 0;                      // the number of the next event
    std::shared_ptr<const std::string> current_;  // partly read
    std::size_t offset_ = 0;                      // in current_
  };
  // After the event of this id. For an id that is not of this hub, before the oldest event. For an
  // empty one, after the newest event.
  [[nodiscard]] Cursor after(std::string_view last_event_id);

  // Copies text of the events from the cursor on, and advances it. Returns the number of bytes; 0
  // if there is nothing new. If events are missing, an event `missed` says how many:
  // {"missed": 12}; it is null if nobody knows, because the client's id is of an earlier daemon.
  std::size_t read(Cursor& cursor, char* buffer, std::size_t size);
  // Whether read() has something.
  [[nodiscard]] bool has_news(const Cursor& cursor);
  // Whether events are no longer kept that the cursor has not reached.
  [[nodiscard]] bool has_lost(const Cursor& cursor);

  // Moves events from the inbox to the ring. To be called when the bell rings, which it does while
  // there are listeners, and before the inbox is full.
  void collect();
  void add_listener() noexcept { ++listeners_; }
  void remove_listener() noexcept { --listeners_; }
  [[nodiscard]] Bell& bell() noexcept { return bell_; }

 private:
  struct Published {
    std::string name, json;
    Published* next = nullptr;
  };
  struct Kept {
    std::uint64_t number;
    std::shared_ptr<const std::string> text;
  };

  void take_inbox() REQUIRES(mutex_);
  void keep(const Published& event) noexcept REQUIRES(mutex_);
  bool advance(Cursor& cursor) const REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t oldest() const REQUIRES(mutex_);
  [[nodiscard]] std::string id_of(std::uint64_t number) const;
  [[nodiscard]] std::optional<std::uint64_t> number_of(std::string_view id) const;
  // The event that says how many are missing; `last` is the number of the last of them.
  [[nodiscard]] std::string missed(const std::string& count, std::uint64_t last) const;

  const Limits limits_;
  const std::string boot_;
  Bell bell_;
  std::atomic<unsigned> listeners_{0};

  std::atomic<Published*> inbox_{nullptr};  // the newest first
  std::atomic<std::size_t> inbox_events_{0};
  std::atomic<std::size_t> inbox_bytes_{0};
  std::atomic<std::uint64_t> lost_{0};  // did not fit into the inbox; not numbered yet

  Mutex mutex_;
  std::deque<Kept> ring_ GUARDED_BY(mutex_);
  std::size_t ring_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ GUARDED_BY(mutex_) = 1;  // the number of the next event
};

}  // namespace dutiful::http
