#include "trace/lines.h"

#include <array>
#include <istream>
#include <iterator>
#include <utility>

#include "text/quote.h"
#include "time/iso8601.h"
#include "trace/json_cursor.h"

namespace dutiful {
namespace {

constexpr std::string_view version = "dutiful/1";

// The texts of RefusalCause. `list` is not written.
constexpr std::string_view environment_cause = "environment";
constexpr std::string_view unseen_cause = "unseen";

template <typename Policy>
using Names = std::array<std::pair<std::string_view, Policy>, 2>;

constexpr Names<RepeatedMinutes> repeated_minutes_names{
    {{"both", RepeatedMinutes::both}, {"first_only", RepeatedMinutes::first_only}}};
constexpr Names<Reinitialize> reinitialize_names{
    {{"reject", Reinitialize::reject}, {"reconcile", Reinitialize::reconcile}}};
constexpr Names<Override> override_names{
    {{"keep_history", Override::keep_history}, {"reset_history", Override::reset_history}}};

template <typename Policy>
std::optional<Policy> find(const Names<Policy>& names, std::string_view name) {
  for (const auto& [known, policy] : names) {
    if (known == name) return policy;
  }
  return std::nullopt;
}

template <typename Policy>
std::string_view name_of(const Names<Policy>& names, Policy policy) {
  return names[names[0].second == policy ? 0 : 1].first;
}

template <typename Policy>
Policy read_policy(JsonCursor& json, const Names<Policy>& names) {
  const std::string name = json.read_string();
  const auto policy = find(names, name);
  if (!policy) {
    throw JsonError("unknown policy " + quote(name) + "; there are " + quote(names[0].first) +
                    " and " + quote(names[1].first));
  }
  return *policy;
}

TraceHeader read_header(std::string_view text) {
  TraceHeader header;
  bool is_trace = false;
  bool has_zone = false;
  JsonCursor json{text};
  json.read_object([&](std::string_view key) {
    if (key == "trace") {
      is_trace = json.read_raw() == quote(version);
    } else if (key == "zone") {
      header.zone = json.read_string();
      has_zone = true;
    } else if (key == "maxConcurrent") {
      const std::int64_t bound = json.read_integer();
      if (bound < 0) throw JsonError("maxConcurrent is " + std::to_string(bound) + ", below 0");
      header.max_concurrent = static_cast<std::size_t>(bound);
    } else if (key == "policies") {
      json.read_object([&](std::string_view policy) {
        if (policy == "repeatedMinutes") {
          header.repeated_minutes = read_policy(json, repeated_minutes_names);
        } else if (policy == "reinitialize") {
          header.reinitialize = read_policy(json, reinitialize_names);
        } else if (policy == "override") {
          header.override = read_policy(json, override_names);
        } else {
          json.read_raw();
        }
      });
    } else {
      json.read_raw();
    }
  });
  json.end();
  if (!is_trace) throw JsonError(R"(the header has no "trace":"dutiful/1")");
  if (!has_zone) throw JsonError("the header names no zone");
  return header;
}

// The fields of an event as in its line; empty if absent.
struct Fields {
  std::string_view at, event, task, reason, error, cause, call, ended, until, registrations, fence,
      member;

  std::string_view* find(std::string_view key) {
    if (key == "at") return &at;
    if (key == "event") return &event;
    if (key == "task") return &task;
    if (key == "reason") return &reason;
    if (key == "error") return &error;
    if (key == "cause") return &cause;
    if (key == "call") return &call;
    if (key == "ended") return &ended;
    if (key == "until") return &until;
    if (key == "registrations") return &registrations;
    if (key == "fence") return &fence;
    if (key == "member") return &member;
    return nullptr;
  }
};

void require(std::string_view raw, const char* field) {
  if (raw.empty()) throw JsonError(std::string{"the field \""} + field + "\" is missing");
}

std::string read_text(std::string_view raw, const char* field) {
  require(raw, field);
  if (raw.front() != '"')
    throw JsonError(std::string{"the field \""} + field + "\" is not a string");
  return JsonCursor{raw}.read_string();
}

Instant read_instant(std::string_view raw, const char* field) {
  const std::string text = read_text(raw, field);
  const auto timestamp = parse_timestamp(text);
  if (!timestamp || !timestamp->offset) {
    throw JsonError(std::string{"the field \""} + field + "\" is " + quote(text) +
                    ", which is not an instant like 2025-03-09T06:58:00.000Z");
  }
  return timestamp->instant(*timestamp->offset);
}

RefusalCause read_cause(std::string_view raw) {
  if (raw.empty()) return RefusalCause::list;
  const std::string name = read_text(raw, "cause");
  if (name == environment_cause) return RefusalCause::environment;
  if (name == unseen_cause) return RefusalCause::unseen;
  throw JsonError("unknown cause " + quote(name) + "; there are " + quote(environment_cause) +
                  " and " + quote(unseen_cause));
}

std::optional<std::uint64_t> read_number(std::string_view raw, const char* field) {
  if (raw.empty()) return {};
  const std::int64_t number = JsonCursor{raw}.read_integer();
  if (number < 0) {
    throw JsonError(std::string{"the field \""} + field + "\" is " + std::to_string(number) +
                    ", below 0");
  }
  return static_cast<std::uint64_t>(number);
}

std::string read_member(std::string_view raw) {
  if (raw.empty()) return {};
  std::string member = read_text(raw, "member");
  if (member.empty()) throw JsonError("the field \"member\" is empty");
  return member;
}

std::optional<Instant> read_ended(std::string_view raw) {
  if (raw.empty()) return {};
  return read_instant(raw, "ended");
}

std::vector<TracedRegistration> read_registrations(std::string_view raw, std::size_t column) {
  require(raw, "registrations");
  std::vector<TracedRegistration> registrations;
  JsonCursor json{raw, column};
  json.read_array([&] {
    TracedRegistration registration;
    int place = 0;
    json.read_array([&] {
      switch (place++) {
        case 0:
          registration.name = json.read_string();
          return;
        case 1:
          registration.cron = json.read_string();
          return;
        case 2:
          registration.retry_delay = Duration{json.read_integer()};
          return;
        default:
          json.read_raw();
      }
    });
    if (place != 3) {
      throw JsonError("a registration has " + std::to_string(place) +
                      " elements instead of 3: name, cron, retry delay in ms");
    }
    registrations.push_back(std::move(registration));
  });
  return registrations;
}

TraceEvent make_event(const Fields& fields, std::string_view line) {
  const std::string name = read_text(fields.event, "event");
  const auto task = [&] { return read_text(fields.task, "task"); };
  const auto ended = [&] { return read_ended(fields.ended); };
  const auto fence = [&] { return read_number(fields.fence, "fence"); };
  const auto call = [&] { return read_number(fields.call, "call"); };
  if (name == "RunStart") return RunStart{task(), read_text(fields.reason, "reason"), fence()};
  if (name == "RunSuccess") return RunSuccess{task(), ended(), fence()};
  if (name == "RunFailure") return RunFailure{task(), ended(), fence()};
  if (name == "RunInterrupted") return RunInterrupted{task(), ended(), fence()};
  if (name == "InitStart") {
    const auto column = static_cast<std::size_t>(fields.registrations.data() - line.data()) + 1;
    return InitStart{read_registrations(fields.registrations, column), call()};
  }
  if (name == "InitSuccess") return InitSuccess{call()};
  if (name == "InitFailure") {
    return InitFailure{read_text(fields.error, "error"), read_cause(fields.cause), call()};
  }
  if (name == "StopStart") return StopStart{call()};
  if (name == "StopEnd") return StopEnd{call()};
  if (name == "Crash") return Crash{};
  if (name == "Freeze") return Freeze{read_instant(fields.until, "until")};
  if (name == "Outage") return Outage{read_instant(fields.until, "until")};
  throw JsonError("unknown event " + quote(name));
}

// When the run of this event was over, if it says so; nothing for other events.
std::optional<Instant> ended_of(const TraceEvent& event) {
  if (const auto* success = std::get_if<RunSuccess>(&event)) return success->ended;
  if (const auto* failure = std::get_if<RunFailure>(&event)) return failure->ended;
  if (const auto* interrupted = std::get_if<RunInterrupted>(&event)) return interrupted->ended;
  return {};
}

void read_event(std::string_view text, TracedEvent& traced) {
  Fields fields;
  JsonCursor json{text};
  json.read_object([&](std::string_view key) {
    const std::string_view raw = json.read_raw();
    if (std::string_view* field = fields.find(key)) *field = raw;
  });
  json.end();
  traced.at = read_instant(fields.at, "at");
  traced.event = make_event(fields, text);
  traced.member = read_member(fields.member);
  if (const auto ended = ended_of(traced.event); ended && *ended > traced.at) {
    throw JsonError("the field \"ended\" is " + format_utc(*ended) + ", after the end's own " +
                    format_utc(traced.at));
  }
}

std::string field(const char* name, std::string_view value) {
  return std::string{",\""}.append(name).append("\":").append(value);
}

// The bytes of its name identify a task, whatever they are.
std::string kept(std::string_view name) {
  return json_string(name, InvalidBytes::kept);
}

std::string number(const char* name, const std::optional<std::uint64_t>& value) {
  return value ? field(name, std::to_string(*value)) : std::string{};
}
std::string instant(const char* name, const std::optional<Instant>& value) {
  return value ? field(name, quote(format_utc(*value))) : std::string{};
}
std::string fields_of(RefusalCause cause) {
  switch (cause) {
    case RefusalCause::environment:
      return field("cause", quote(environment_cause));
    case RefusalCause::unseen:
      return field("cause", quote(unseen_cause));
    case RefusalCause::list:
      break;
  }
  return {};
}

// The fields of an event after its name and its member.
std::string fields_of(const InitStart& event) {
  return number("call", event.call) + field("registrations", to_json(event.registrations));
}
std::string fields_of(const InitSuccess& event) {
  return number("call", event.call);
}
std::string fields_of(const InitFailure& event) {
  return number("call", event.call) + field("error", json_string(event.error)) +
         fields_of(event.cause);
}
std::string fields_of(const StopStart& event) {
  return number("call", event.call);
}
std::string fields_of(const StopEnd& event) {
  return number("call", event.call);
}
std::string fields_of(const RunStart& event) {
  return field("task", kept(event.task)) + field("reason", json_string(event.reason)) +
         number("fence", event.fence);
}
std::string end_fields(const auto& event) {
  return field("task", kept(event.task)) + instant("ended", event.ended) +
         number("fence", event.fence);
}
std::string fields_of(const RunSuccess& event) {
  return end_fields(event);
}
std::string fields_of(const RunFailure& event) {
  return end_fields(event);
}
std::string fields_of(const RunInterrupted& event) {
  return end_fields(event);
}
std::string fields_of(const Crash& /*event*/) {
  return {};
}
std::string fields_of(const Freeze& event) {
  return instant("until", event.until);
}
std::string fields_of(const Outage& event) {
  return instant("until", event.until);
}

// In the order of TraceEvent.
constexpr std::array<std::string_view, 12> event_names{"InitStart",
                                                       "InitSuccess",
                                                       "InitFailure",
                                                       "StopStart",
                                                       "StopEnd",
                                                       "RunStart",
                                                       "RunSuccess",
                                                       "RunFailure",
                                                       "RunInterrupted",
                                                       "Crash",
                                                       "Freeze",
                                                       "Outage"};
static_assert(std::size(event_names) == std::variant_size_v<TraceEvent>);

}  // namespace

std::optional<RepeatedMinutes> repeated_minutes_of(std::string_view name) {
  return find(repeated_minutes_names, name);
}

std::optional<Reinitialize> reinitialize_of(std::string_view name) {
  return find(reinitialize_names, name);
}

std::optional<Override> override_of(std::string_view name) {
  return find(override_names, name);
}
std::string_view name_of(RepeatedMinutes policy) {
  return name_of(repeated_minutes_names, policy);
}
std::string_view name_of(Reinitialize policy) {
  return name_of(reinitialize_names, policy);
}
std::string_view name_of(Override policy) {
  return name_of(override_names, policy);
}

std::string to_line(const TraceHeader& header) {
  std::string line = "{\"trace\":" + quote(version) + field("zone", json_string(header.zone));
  std::string policies;
  const auto add = [&policies](const char* name, std::string_view value) {
    policies += field(name, quote(value)).substr(policies.empty() ? 1 : 0);
  };
  if (header.repeated_minutes) {
    add("repeatedMinutes", name_of(repeated_minutes_names, *header.repeated_minutes));
  }
  if (header.reinitialize) {
    add("reinitialize", name_of(reinitialize_names, *header.reinitialize));
  }
  if (header.override) add("override", name_of(override_names, *header.override));
  if (!policies.empty()) line += field("policies", '{' + policies + '}');
  if (header.max_concurrent != 0) {
    line += field("maxConcurrent", std::to_string(header.max_concurrent));
  }
  return line + '}';
}

std::string to_line(Instant at, const TraceEvent& event, std::string_view member) {
  return "{\"at\":" + quote(format_utc(at)) + field("event", quote(event_names[event.index()])) +
         (member.empty() ? std::string{} : field("member", kept(member))) +
         std::visit([](const auto& e) { return fields_of(e); }, event) + '}';
}

std::string to_json(const std::vector<TracedRegistration>& registrations) {
  std::string json = "[";
  for (const TracedRegistration& registration : registrations) {
    if (json.size() > 1) json += ',';
    json += '[' + kept(registration.name) + ',' + kept(registration.cron) + ',' +
            std::to_string(registration.retry_delay.count()) + ']';
  }
  return json + ']';
}

TraceReader::TraceReader(std::istream& in) : in_(in) {
  line_ = 1;
  if (!std::getline(in_, text_)) {
    throw MalformedTrace(line_, in_.bad() ? "it cannot be read" : "there is no header");
  }
  try {
    header_ = read_header(text_);
  } catch (const JsonError& error) {
    throw MalformedTrace(line_, error.what());
  }
}

bool TraceReader::read(TracedEvent& event) {
  if (!std::getline(in_, text_)) {
    if (in_.bad()) throw MalformedTrace(line_ + 1, "it cannot be read any further");
    return false;
  }
  ++line_;
  try {
    read_event(text_, event);
  } catch (const JsonError& error) {
    throw MalformedTrace(line_, error.what());
  }
  if (event.at < latest_) {
    throw MalformedTrace(line_,
                         "it is from " + format_utc(event.at) + ", before the line above (" +
                             format_utc(latest_) + ")");
  }
  latest_ = event.at;
  return true;
}

}  // namespace dutiful
