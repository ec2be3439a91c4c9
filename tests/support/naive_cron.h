// The slow, obvious twin of CronExpression: sets of numbers, minute by minute.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include <dutiful/time.h>

namespace dutiful {

class NaiveCron {
 public:
  // Requires a valid expression.
  explicit NaiveCron(const std::string& text) {
    std::istringstream in{text};
    for (std::string& field : fields_) in >> field;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      std::istringstream elements{fields_[i]};
      for (std::string element; std::getline(elements, element, ',') && element != "*";) {
        const auto hyphen = element.find('-');
        const int low = std::stoi(element.substr(0, hyphen));
        const int high = hyphen == std::string::npos ? low : std::stoi(element.substr(hyphen + 1));
        for (int value = low; value <= high; ++value) values_[i].insert(value);
      }
    }
  }

  [[nodiscard]] bool matches(CivilMinute minute) const {
    const auto day = std::chrono::floor<std::chrono::days>(minute);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{minute - day};
    const auto allows = [&](std::size_t field, long value) {
      return fields_[field] == "*" || values_[field].contains(static_cast<int>(value));
    };
    const bool on_day = allows(2, static_cast<long>(unsigned{date.day()}));
    const bool on_weekday = allows(4, static_cast<long>(std::chrono::weekday{day}.c_encoding()));
    const bool both_restricted = fields_[2] != "*" && fields_[4] != "*";
    return allows(0, time.minutes().count()) && allows(1, time.hours().count()) &&
           allows(3, static_cast<long>(unsigned{date.month()})) &&
           (both_restricted ? on_day || on_weekday : on_day && on_weekday);
  }

  // Walks minute by minute, up to the limit.
  [[nodiscard]] std::optional<CivilMinute> find_at_or_after(CivilMinute from,
                                                            CivilMinute limit) const {
    for (CivilMinute minute = from; minute <= limit; minute += std::chrono::minutes{1}) {
      if (matches(minute)) return minute;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<CivilMinute> find_at_or_before(CivilMinute from,
                                                             CivilMinute limit) const {
    for (CivilMinute minute = from; minute >= limit; minute -= std::chrono::minutes{1}) {
      if (matches(minute)) return minute;
    }
    return std::nullopt;
  }

 private:
  std::array<std::string, 5> fields_;
  std::array<std::set<int>, 5> values_;
};

}  // namespace dutiful
