#include "http/event_hub.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <system_error>
#include <utility>

#include "posix/random_name.h"

namespace dutiful::http {
namespace {

constexpr std::size_t boot_length = 8;
// The size of an event beside its texts.
constexpr std::size_t overhead = 64;

std::size_t size_of(std::string_view name, std::string_view json) {
  return name.size() + json.size() + overhead;
}

}  // namespace

EventHub::EventHub(Limits limits) : EventHub(limits, random_name().substr(0, boot_length)) {}

EventHub::EventHub(Limits limits, std::string boot) : limits_(limits), boot_(std::move(boot)) {}

EventHub::~EventHub() {
  for (const Published* event = inbox_.load(); event != nullptr;) {
    const std::unique_ptr<const Published> owned{event};
    event = owned->next;
  }
}

void EventHub::publish(std::string_view name, std::string json) noexcept {
  const std::size_t size = size_of(name, json);
  const std::size_t events = inbox_events_.fetch_add(1);
  const std::size_t bytes = inbox_bytes_.fetch_add(size);
  Published* event = nullptr;
  if (events < limits_.events_max && bytes + size <= limits_.bytes_max) {
    try {
      event = new Published{.name = std::string{name}, .json = std::move(json)};
    } catch (const std::bad_alloc&) {
      event = nullptr;
    }
  }
  if (event == nullptr) {
    inbox_events_.fetch_sub(1);
    inbox_bytes_.fetch_sub(size);
    lost_.fetch_add(1);
    return;
  }
  Published* previous = inbox_.load();
  do {
    event->next = previous;
  } while (!inbox_.compare_exchange_weak(previous, event));
  // The event now belongs to whoever empties the inbox. The inbox is emptied as a whole: if it was
  // not empty, the bell has been rung for it. Without listeners, the inbox is emptied before it is
  // full, so that the ring has the newest events.
  const bool half_full = events == limits_.events_max / 2 ||
                         (bytes < limits_.bytes_max / 2 && bytes + size >= limits_.bytes_max / 2);
  if (half_full || (previous == nullptr && listeners_.load() > 0)) bell_.ring();
}

void EventHub::collect() {
  const Lock lock{mutex_};
  take_inbox();
}

void EventHub::take_inbox() {
  if (inbox_.load(std::memory_order_relaxed) == nullptr && lost_.load() == 0) return;
  // Events that were lost so far are numbered after those that were not.
  const std::uint64_t lost = lost_.exchange(0);
  Published* reversed = nullptr;
  for (Published* event = inbox_.exchange(nullptr); event != nullptr;) {
    Published* const next = std::exchange(event->next, reversed);
    reversed = std::exchange(event, next);
  }
  while (reversed != nullptr) {
    const std::unique_ptr<const Published> event{reversed};
    reversed = event->next;
    inbox_events_.fetch_sub(1);
    inbox_bytes_.fetch_sub(size_of(event->name, event->json));
    keep(*event);
  }
  next_ += lost;
}

void EventHub::keep(const Published& event) noexcept {
  const std::uint64_t number = next_++;
  try {
    std::string text = "id: " + id_of(number) + "\nevent: " + event.name + "\ndata: " + event.json;
    // Outside of strings, in which it is escaped, a newline of JSON is a space.
    std::ranges::replace_if(
        text.begin() + static_cast<std::ptrdiff_t>(text.size() - event.json.size()),
        text.end(),
        [](char c) { return c == '\n' || c == '\r'; },
        ' ');
    text += "\n\n";
    ring_.push_back(
        {.number = number, .text = std::make_shared<const std::string>(std::move(text))});
    ring_bytes_ += ring_.back().text->size();
  } catch (const std::bad_alloc&) {  // its number is missing, which readers notice
    return;
  }
  while (ring_.size() > limits_.events_max || ring_bytes_ > limits_.bytes_max) {
    ring_bytes_ -= ring_.front().text->size();
    ring_.pop_front();
  }
}

std::uint64_t EventHub::oldest() const {
  return ring_.empty() ? next_ : ring_.front().number;
}

std::string EventHub::id_of(std::uint64_t number) const {
  return boot_ + '-' + std::to_string(number);
}

std::string EventHub::missed(const std::string& count, std::uint64_t last) const {
  return "id: " + id_of(last) + "\nevent: missed\ndata: {\"missed\": " + count + "}\n\n";
}

std::optional<std::uint64_t> EventHub::number_of(std::string_view id) const {
  if (!id.starts_with(boot_)) return {};
  id.remove_prefix(boot_.size());
  if (!id.starts_with('-')) return {};
  id.remove_prefix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc{} || end != id.data() + id.size()) return {};
  return number;
}

EventHub::Cursor EventHub::after(std::string_view last_event_id) {
  const Lock lock{mutex_};
  take_inbox();
  Cursor cursor;
  cursor.next_ = next_;
  if (last_event_id.empty()) return cursor;
  const auto number = number_of(last_event_id);
  const bool is_ours = number && *number < next_;
  if (is_ours && *number + 1 >= oldest()) {
    cursor.next_ = *number + 1;
    return cursor;
  }
  // Nothing is lost that the cursor could still reach: has_lost() is false.
  cursor.next_ = oldest();
  const std::string count = is_ours ? std::to_string(oldest() - *number - 1) : "null";
  cursor.current_ = std::make_shared<const std::string>(missed(count, oldest() - 1));
  return cursor;
}

std::size_t EventHub::read(Cursor& cursor, char* buffer, std::size_t size) {
  const Lock lock{mutex_};
  take_inbox();
  std::size_t copied = 0;
  while (copied < size) {
    if (!cursor.current_ && !advance(cursor)) break;
    const std::size_t part = cursor.current_->copy(buffer + copied, size - copied, cursor.offset_);
    copied += part;
    cursor.offset_ += part;
    if (cursor.offset_ < cursor.current_->size()) break;
    cursor.current_.reset();
    cursor.offset_ = 0;
  }
  return copied;
}

// Makes the next event the current one. Returns whether there is one.
bool EventHub::advance(Cursor& cursor) const {
  if (cursor.next_ >= next_) return false;
  const auto found = std::ranges::lower_bound(ring_, cursor.next_, {}, &Kept::number);
  const std::uint64_t number = found != ring_.end() ? found->number : next_;
  if (number > cursor.next_) {
    cursor.current_ = std::make_shared<const std::string>(
        missed(std::to_string(number - cursor.next_), number - 1));
    cursor.next_ = number;
    return true;
  }
  cursor.current_ = found->text;
  ++cursor.next_;
  return true;
}

bool EventHub::has_news(const Cursor& cursor) {
  const Lock lock{mutex_};
  take_inbox();
  return cursor.current_ || cursor.next_ < next_;
}

bool EventHub::has_lost(const Cursor& cursor) {
  const Lock lock{mutex_};
  take_inbox();
  return cursor.next_ < oldest();
}

}  // namespace dutiful::http
