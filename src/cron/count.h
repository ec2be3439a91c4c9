// Counts the minutes of a range of civil time that an expression selects, by arithmetic.
#pragma once

#include <array>

#include <dutiful/cron.h>

namespace dutiful {

// Every selected day has the same selected minutes, so only days must be counted. The selected days
// of a year depend on its length and its first weekday, so there are only fourteen kinds of years.
// Allocates nothing.
//
// Must not outlive its expression.
class CronCount {
 public:
  explicit CronCount(const CronExpression& cron) noexcept;

  // The matching minutes in [from, to); if `to` lies before `from`, minus those in [to, from).
  [[nodiscard]] std::int64_t between(CivilMinute from, CivilMinute to) const noexcept;

 private:
  [[nodiscard]] std::int64_t count(CivilMinute from, CivilMinute to) const noexcept;
  [[nodiscard]] bool chooses(std::chrono::local_days day) const noexcept;
  [[nodiscard]] int minutes_before(std::chrono::minutes time) const noexcept;
  [[nodiscard]] std::int64_t days_between(std::chrono::local_days from,
                                          std::chrono::local_days to) const noexcept;
  [[nodiscard]] std::int64_t days_of_years(std::chrono::year from,
                                           std::chrono::year to) const noexcept;
  [[nodiscard]] int days_of_months(std::chrono::year in, unsigned months) const noexcept;
  [[nodiscard]] int days_of_year_before(std::chrono::year_month_day date) const noexcept;

  const CronExpression& cron_;
  CronExpression::Fields fields_;
  std::array<int, 25> before_hour_{};  // the selected minutes of a selected day before each hour
  std::chrono::minutes first_;         // of a selected day
  bool every_day_;
};

}  // namespace dutiful
