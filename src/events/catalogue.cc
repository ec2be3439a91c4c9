#include "events/catalogue.h"

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "time/clock_range.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

// Turns each field of an event into its published form.
class FieldList {
 public:
  void operator()(std::string_view name, bool value) { add(name, value); }
  void operator()(std::string_view name, std::int64_t value) { add(name, value); }
  void operator()(std::string_view name, Duration value) { add(name, value.count()); }
  void operator()(std::string_view name, const std::string& value) { add(name, value); }
  void operator()(std::string_view name, std::string_view value) { add(name, std::string{value}); }
  void operator()(std::string_view name, Instant value) {
    add(name, format_utc(into_clock_range(value)));
  }
  void operator()(std::string_view name, Reason value) { add(name, std::string{name_of(value)}); }
  void operator()(std::string_view name, CivilMinute value) { add(name, format_minute(value)); }
  template <typename T>
  void operator()(std::string_view name, const std::optional<T>& value) {
    if (value) (*this)(name, *value);
  }
  // A struct that has fields itself.
  template <typename T>
  requires requires(const T& value, FieldList& list) { value.fields(list); }
  void operator()(std::string_view name, const T& value) {
    FieldList inner;
    value.fields(inner);
    add(name, inner.take());
  }

  [[nodiscard]] std::vector<EventField> take() { return std::move(fields_); }

 private:
  void add(std::string_view name, EventField::Value value) {
    EventField field{name, std::move(value)};
    fields_.push_back(std::move(field));
  }

  std::vector<EventField> fields_;
};

}  // namespace

Level level_of(const TypedEvent& event) {
  return std::visit([](const auto& what) { return what.level; }, event.what);
}

Event publish(const TypedEvent& event) {
  return std::visit(
      [&](const auto& what) {
        FieldList list;
        what.fields(list);
        return Event{.name = what.name,
                     .level = what.level,
                     .at = into_clock_range(event.at),
                     .fields = list.take()};
      },
      event.what);
}

}  // namespace dutiful
