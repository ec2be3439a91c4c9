// Time zones: which instants are a local time, and the other way round.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <dutiful/error.h>
#include <dutiful/export.h>
#include <dutiful/time.h>

namespace dutiful {

class Timeline;  // internal

// A zone cannot be loaded. There is no silent fall-back to UTC.
class DUTIFUL_EXPORT ZoneError : public Error {
 public:
  ZoneError(std::string zone, std::string reason);
  [[nodiscard]] std::string_view name() const noexcept override { return "ZoneError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& zone() const noexcept { return zone_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string zone_;
  std::string reason_;
};

// The offset from UTC that the clocks of a place have, at every instant.
//
//   Zone zone = Zone::load("America/New_York");
//   zone.offset_at(instant);                         // -14400 s in summer
//   zone.read(local_days{2025y / 3 / 9} + 2h + 30min);   // Skipped: spring forward
//   zone.read(local_days{2025y / 11 / 2} + 1h + 30min);  // Repeated: fall back
//
// A Zone is an immutable value. It is cheap to copy and safe to share between threads. It does not
// follow changes of the system's zone database: load it again for that.
class DUTIFUL_EXPORT Zone {
 public:
  // To move a zone is to copy it, because there is no empty zone.
  Zone(const Zone&) = default;
  Zone& operator=(const Zone&) = default;

  // UTC, which needs no zone database.
  [[nodiscard]] static Zone utc();

  // The zone that the environment variable TZ would choose with that value (tzset(3)): a name from
  // the zone database ("Europe/Berlin"), the absolute path of a TZif file, or a POSIX rule
  // ("CET-1CEST,M3.5.0,M10.5.0/3"). The database is $TZDIR, or /usr/share/zoneinfo.
  // Throws ZoneError, which says what is wrong with the name or the file.
  [[nodiscard]] static Zone load(std::string_view name);

  // The host's zone (RULES T1): $TZ if set, else /etc/localtime. Throws ZoneError.
  [[nodiscard]] static Zone host();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // Local time minus UTC.
  [[nodiscard]] std::chrono::seconds offset_at(Instant instant) const;

  // When the clocks are set in (after, until], oldest first.
  struct Change {
    Instant at;
    std::chrono::seconds before;  // the offset until then
    std::chrono::seconds after;   // from then on

    friend bool operator==(const Change&, const Change&) = default;
  };
  [[nodiscard]] std::vector<Change> changes(Instant after, Instant until) const;

  // A local time is one of these three, and the caller decides what to do with each.
  struct Unique {
    Instant at;
  };
  struct Skipped {       // The clocks jumped over it …
    Instant transition;  // … at this instant.
  };
  struct Repeated {  // The clocks were set back and showed it twice.
    Instant first;
    Instant second;
  };
  using Reading = std::variant<Unique, Skipped, Repeated>;
  [[nodiscard]] Reading read(std::chrono::local_time<Duration> local) const;

 private:
  friend class Calendar;

  DUTIFUL_HIDDEN Zone(std::string name, std::shared_ptr<const Timeline> timeline);

  std::string name_;
  std::shared_ptr<const Timeline> timeline_;
};

}  // namespace dutiful
