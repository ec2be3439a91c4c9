#include <ostream>

#include <dutiful/events.h>

#include "text/quote.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::debug:
      return "DEBUG";
    case Level::info:
      return "INFO";
    case Level::warning:
      return "WARNING";
    case Level::error:
      return "ERROR";
  }
  return "";
}

void append_fields(std::string& out, const std::vector<EventField>& fields);

void append_value(std::string& out, const EventField::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    out += *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    out += std::to_string(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    out += json_string(*text);
  } else {
    out += '{';
    append_fields(out, std::get<std::vector<EventField>>(value));
    out += '}';
  }
}

void append_fields(std::string& out, const std::vector<EventField>& fields) {
  bool first = true;
  for (const EventField& field : fields) {
    if (!first) out += ',';
    first = false;
    out += json_string(field.name);
    out += ':';
    append_value(out, field.value);
  }
}

}  // namespace

std::string to_json(const Event& event) {
  std::string out = R"({"time":)" + json_string(format_utc(event.at)) + R"(,"level":)" +
                    json_string(name_of(event.level)) + R"(,"event":)" + json_string(event.name);
  if (!event.fields.empty()) {
    out += ',';
    append_fields(out, event.fields);
  }
  return out + '}';
}

EventSink json_lines(std::ostream& out) {
  return [&out](const Event& event) { out << to_json(event) << '\n' << std::flush; };
}

}  // namespace dutiful
