// Cron expressions, as POSIX defines them and nothing more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dutiful/error.h>
#include <dutiful/export.h>
#include <dutiful/time.h>

namespace dutiful {

// Five fields that choose civil minutes (RULES C1, C2):
//
//   minute 0-59   hour 0-23   day 1-31   month 1-12   weekday 0-6 (0 = Sunday)
//
// A field is `*` or a list of numbers and ranges. If both day and weekday are restricted, that is,
// are anything but a bare `*`, a day matches if either of them does (RULES C4).
//
//   auto weekdays = CronExpression::parse("15 3 * * 1-5");
//   weekdays.matches(local_days{2025y / 3 / 10} + 3h + 15min);
//     // true: a Monday
//   weekdays.next(local_days{2025y / 3 / 7} + 3h + 15min);
//     // 2025-03-10 03:15: strictly after
//   weekdays.previous(local_days{2025y / 3 / 9} + 12h);
//     // 2025-03-07 03:15: at or before
//   CronExpression::parse("*/15 * * * *");
//     // throws, and says: use 0,15,30,45
//
// A Calendar turns these minutes into the instants of a zone.
//
// The value is the schedule, not the text: `0 0 * * *` and `00 0 1-31 * *` are equal, because their
// fields choose the same values. To find out whether two *texts* are equal (RULES P3), compare the
// texts.
//
// A CronExpression is an immutable value of 32 bytes, safe to share between threads. Only
// to_string() and errors allocate memory.
class DUTIFUL_EXPORT CronExpression {
 public:
  // Throws InvalidCronExpressionError. Takes linear time in the length of the text (RULES C7).
  [[nodiscard]] static CronExpression parse(std::string_view text);

  // The same, but returns nothing instead of throwing. Use it for text that is often invalid.
  [[nodiscard]] static std::optional<CronExpression> try_parse(std::string_view text) noexcept;

  // False in years outside 1 to 9999.
  [[nodiscard]] bool matches(CivilMinute minute) const noexcept;

  // The first matching minute after `after`, and the last one at or before `from`.
  //
  // Both throw CronCalculationError if the years 1 to 9999 have none, as for `0 0 30 2 *` (RULES
  // C5). The error shows `text` as the expression, or to_string() if `text` is empty.
  [[nodiscard]] CivilMinute next(CivilMinute after, std::string_view text = {}) const;
  [[nodiscard]] CivilMinute previous(CivilMinute from, std::string_view text = {}) const;

  // The same, but return nothing instead of throwing. Both bounds are inclusive.
  [[nodiscard]] std::optional<CivilMinute> find_at_or_after(CivilMinute from) const noexcept;
  [[nodiscard]] std::optional<CivilMinute> find_at_or_before(CivilMinute from) const noexcept;

  // Whether no chosen month has a chosen day, as in `0 0 30 2 *`.
  [[nodiscard]] bool never_matches() const noexcept;

  // The schedule as a normalized text: parse(e.to_string()) == e.
  [[nodiscard]] std::string to_string() const;

  // The values that each field chooses: bit n stands for the value n. A day matches if it is in
  // `days` or in `weekdays`. A mask of 0 means that only the other one decides.
  struct Fields {
    std::uint64_t minutes;
    std::uint32_t hours;
    std::uint32_t days;
    std::uint16_t months;
    std::uint8_t weekdays;
  };
  [[nodiscard]] Fields fields() const noexcept;

  friend bool operator==(const CronExpression&, const CronExpression&) = default;

 private:
  friend class CronSearch;

  DUTIFUL_HIDDEN explicit CronExpression(const Fields& fields) noexcept;

  std::uint64_t minutes_;   // bit n: minute n
  std::uint64_t weekdays_;  // bit n: weekday n mod 7, for six weeks; 0 when only days_ decides
  std::uint32_t hours_;     // bit n: hour n
  std::uint32_t days_;      // bit n: day n + 1; 0 when only weekdays_ decides
  std::uint16_t months_;    // bit n: month n + 1
  std::uint16_t first_;     // first matching minute of a matching day, counted from its midnight
  std::uint16_t last_;      // last one
  std::uint16_t unused_ = 0;
};
static_assert(sizeof(CronExpression) == 32);

// A field of an expression is invalid. This is the cause of an InvalidCronExpressionError, unless
// the number of fields is wrong.
class DUTIFUL_EXPORT FieldParseError : public Error {
 public:
  FieldParseError(std::string field_value, std::string field_name, const std::string& reason);
  [[nodiscard]] std::string_view name() const noexcept override { return "FieldParseError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& field_value() const noexcept { return field_value_; }
  [[nodiscard]] const std::string& field_name() const noexcept { return field_name_; }

 private:
  std::string field_value_;
  std::string field_name_;
};

// An expression is not POSIX cron (RULES C3, C6).
class DUTIFUL_EXPORT InvalidCronExpressionError : public Error {
 public:
  struct Details {
    std::string expression;
    std::string field;        // minute, hour, day, month, weekday; expression for the whole
    std::string field_value;  // that field's text, and where it begins
    std::size_t field_offset = 0;
    std::string reason;      // ends with the equivalent, if there is one
    std::string equivalent;  // a field or an expression in POSIX that means the same; may be empty
    std::size_t offset = 0;  // the offending characters of the expression
    std::size_t length = 0;
  };

  explicit InvalidCronExpressionError(Details details);
  [[nodiscard]] std::string_view name() const noexcept override {
    return "InvalidCronExpressionError";
  }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& expression() const noexcept { return details_.expression; }
  [[nodiscard]] const std::string& field() const noexcept { return details_.field; }
  [[nodiscard]] const std::string& reason() const noexcept { return details_.reason; }
  [[nodiscard]] const Details& details() const noexcept { return details_; }

 private:
  Details details_;
};

// There is no next or no previous occurrence (RULES C5). The expression is the text that the caller
// gave, or that of to_string(). The time is in ISO 8601: the civil minute or the instant in UTC
// that the caller gave.
class DUTIFUL_EXPORT CronCalculationError : public Error {
 public:
  CronCalculationError(std::string expression, std::string current_time, std::string cause);
  [[nodiscard]] std::string_view name() const noexcept override { return "CronCalculationError"; }
  [[nodiscard]] std::vector<ErrorField> fields() const override;
  [[nodiscard]] const std::string& expression() const noexcept { return expression_; }
  [[nodiscard]] const std::string& current_time() const noexcept { return current_time_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string expression_;
  std::string current_time_;
  std::string reason_;  // the message of the cause
};

}  // namespace dutiful
