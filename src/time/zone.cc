#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <dutiful/zone.h>

#include "text/quote.h"
#include "time/timeline.h"
#include "time/tzif.h"

namespace dutiful {
namespace {

// The largest zone files have a few kilobytes.
constexpr std::size_t zone_file_size_max = 1 << 20;

constexpr const char* host_zone_file = "/etc/localtime";

std::filesystem::path database() {
  const char* directory = std::getenv("TZDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/usr/share/zoneinfo";
}

// Errors name `zone` and end with `remedy`.
Timeline read_zone_file(const std::filesystem::path& path,
                        std::string_view zone,
                        const std::string& remedy) {
  const auto fail = [&](const std::string& reason) -> ZoneError {
    return {std::string{zone}, reason + "; " + remedy};
  };

  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) throw fail("cannot read " + quote(path.string()) + ": " + error.message());
  if (!is_regular_file(status)) throw fail(quote(path.string()) + " is not a file");
  std::ifstream file{path, std::ios::binary};
  std::string bytes(zone_file_size_max + 1, '\0');
  if (!file) throw fail("cannot read " + quote(path.string()) + ": " + std::strerror(errno));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.bad()) throw fail("cannot read " + quote(path.string()) + ": " + std::strerror(errno));
  bytes.resize(static_cast<std::size_t>(file.gcount()));

  auto parsed = bytes.size() > zone_file_size_max ? "is too large" : parse_tzif(bytes);
  if (const auto* reason = std::get_if<std::string>(&parsed)) {
    throw fail("the zone file " + quote(path.string()) + " " + *reason);
  }
  auto& contents = std::get<TzifContents>(parsed);
  return {contents.initial, std::move(contents.transitions), contents.rule};
}

// A zone's name must not lead out of the database.
bool is_inside(const std::filesystem::path& name) {
  return name.is_relative() && std::ranges::find(name, "..") == name.end();
}

}  // namespace

ZoneError::ZoneError(std::string zone, std::string reason)
    : Error("Cannot load time zone " + quote(zone) + ": " + reason),
      zone_(std::move(zone)),
      reason_(std::move(reason)) {}

std::vector<ErrorField> ZoneError::fields() const {
  return {{"zone", zone_}, {"reason", reason_}};
}

Zone::Zone(std::string name, std::shared_ptr<const Timeline> timeline)
    : name_(std::move(name)), timeline_(std::move(timeline)) {}

Zone Zone::utc() {
  using namespace std::chrono_literals;
  return {"UTC", std::make_shared<const Timeline>(0s, std::vector<Transition>{}, std::nullopt)};
}

Zone Zone::load(std::string_view name) {
  // POSIX leaves a name after a colon to the system. C libraries ignore the colon.
  const std::string given{name};
  if (name.starts_with(':')) name.remove_prefix(1);
  if (name == "UTC") return utc();
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    throw ZoneError(given, "not a zone name; use one such as Europe/Berlin or UTC");
  }

  const auto made_of = [name](Timeline timeline) {
    return Zone{std::string{name}, std::make_shared<const Timeline>(std::move(timeline))};
  };
  const std::string remedy = "use a zone name such as Europe/Berlin or UTC";
  const std::filesystem::path path = name;
  if (path.is_absolute()) return made_of(read_zone_file(path, given, remedy));
  std::error_code error;
  const std::filesystem::path in_database = database() / path;
  if (is_inside(path) && is_regular_file(std::filesystem::status(in_database, error))) {
    return made_of(read_zone_file(in_database, given, remedy));
  }
  if (const auto rule = parse_posix_rule(name)) return made_of({rule->standard, {}, rule});
  if (!is_directory(std::filesystem::status(database(), error))) {
    throw ZoneError(given,
                    "there is no zone database at " + quote(database().string()) +
                        "; install the package tzdata, or set TZDIR");
  }
  throw ZoneError(given,
                  "there is no such zone in " + quote(database().string()) +
                      ", nor is it a POSIX rule like CET-1CEST,M3.5.0,M10.5.0/3; "
                      "`timedatectl list-timezones` shows the names");
}

Zone Zone::host() {
  if (const char* tz = std::getenv("TZ")) {
    // C libraries read an empty TZ as UTC.
    if (*tz == '\0' || std::strcmp(tz, ":") == 0) return utc();
    try {
      return load(tz);
    } catch (const ZoneError& error) {
      throw ZoneError(error.zone(), error.reason() + "; it comes from the variable TZ");
    }
  }
  std::error_code error;
  const std::filesystem::path file = std::filesystem::read_symlink(host_zone_file, error);
  Timeline timeline = read_zone_file(host_zone_file,
                                     host_zone_file,
                                     "set TZ (TZ=UTC is always there), or link a file of the zone "
                                     "database to it");

  // By localtime(5), /etc/localtime is a link into the database. The rest of its target is the
  // name.
  const std::string target = file.string();
  constexpr std::string_view marker = "zoneinfo/";
  const auto at = target.find(marker);
  std::string name = at == std::string::npos ? host_zone_file : target.substr(at + marker.size());
  return {std::move(name), std::make_shared<const Timeline>(std::move(timeline))};
}

std::chrono::seconds Zone::offset_at(Instant instant) const {
  return timeline_->at(std::min(instant, Timeline::instant_max))->offset;
}

std::vector<Zone::Change> Zone::changes(Instant after, Instant until) const {
  until = std::min(until, Timeline::instant_max);
  std::vector<Change> changes;
  auto segment = timeline_->at(std::min(after, Timeline::instant_max));
  while (segment->end <= until) {
    const std::chrono::seconds before = segment->offset;
    segment.to_next();
    // A zone may also change its name only, or whether it calls its time summer time.
    if (segment->offset != before) changes.push_back({segment->begin, before, segment->offset});
  }
  return changes;
}

Zone::Reading Zone::read(std::chrono::local_time<Duration> local) const {
  const Instant as_utc = std::clamp(Instant{local.time_since_epoch()},
                                    Instant{} - (Timeline::instant_max - Instant{}),
                                    Timeline::instant_max - 2 * offset_max);
  std::optional<Instant> found;
  std::optional<Instant> jump;
  for (auto segment = timeline_->at(as_utc - offset_max); segment->begin <= as_utc + offset_max;
       segment.to_next()) {
    const Instant instant = as_utc - segment->offset;
    const bool shows = segment->begin <= instant && instant < segment->end;
    if (shows && found) return Repeated{*found, instant};
    if (shows) found = instant;
    if (instant < segment->begin && !jump) jump = segment->begin;
    if (segment->end == Instant::max()) break;
  }
  if (found) return Unique{*found};
  return Skipped{jump.value()};
}

}  // namespace dutiful
