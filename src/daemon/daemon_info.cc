#include "daemon/daemon_info.h"

#include "text/json_object.h"
#include "time/clock_range.h"
#include "time/iso8601.h"

namespace dutiful {
namespace {

constexpr std::chrono::days shown_before{10 * 366};
constexpr std::chrono::days shown_ahead{10 * 366};

void append_offset(std::string& text, std::optional<Instant> from, std::chrono::seconds offset) {
  JsonObject object{text};
  object.add("from", from ? std::optional{format_utc(*from)} : std::nullopt);
  object.add("seconds", offset.count());
}

void append_offsets(std::string& text, const Zone& zone, Instant now) {
  const Instant from = into_clock_range(now - shown_before);
  text += '[';
  append_offset(text, std::nullopt, zone.offset_at(from));
  for (const Zone::Change& change : zone.changes(from, into_clock_range(now + shown_ahead))) {
    text += ',';
    append_offset(text, change.at, change.after);
  }
  text += ']';
}

void append_violation(std::string& text, const event::TheoryViolated& violation) {
  JsonObject object{text};
  object.add("axiom", violation.axiom);
  object.add("line", violation.line);
  object.add("violatedAt", format_utc(violation.violated));
  object.add("blame", violation.blame);
  object.add("error", violation.error);
}

void append_judge(std::string& text, const std::string& trace, const Judgement& judgement) {
  JsonObject object{text};
  object.add("trace", trace);
  object.add("events", judgement.events);
  object.add("conforms", judgement.violations == 0);
  object.add("violations", judgement.violations);
  object.begin("firstViolation");
  if (judgement.first) {
    append_violation(text, *judgement.first);
  } else {
    text += "null";
  }
}

}  // namespace

std::string json_of(const DaemonInfo& daemon) {
  std::string text;
  {
    JsonObject object{text};
    object.add("at", format_utc(daemon.at));
    object.add("version", daemon.version);
    object.add("host", daemon.host);
    object.add("file", daemon.file);
    object.add("state", daemon.state);
    object.add("startedAt", format_utc(daemon.started));
    object.add("lifecycle", name_of(daemon.lifecycle));
    object.add("tasks", daemon.tasks);
    object.add("zone", daemon.zone.name());
    append_offsets(object.begin("offsets"), daemon.zone, daemon.at);
    object.add("repeatedMinutes",
               daemon.repeated_minutes == RepeatedMinutes::both ? "both" : "first_only");
    object.add("history", daemon.keeps_history);
    object.begin("judge");
    if (daemon.judgement) {
      append_judge(text, daemon.trace, *daemon.judgement);
    } else {
      text += "null";
    }
  }
  return text;
}

}  // namespace dutiful
