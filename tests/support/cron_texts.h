// Random cron expressions for property tests.
#pragma once

#include <string>

#include <rapidcheck.h>

#include "cron/field.h"

namespace dutiful {

// A field of numbers and ranges, sometimes with leading zeros; often a star.
inline rc::Gen<std::string> field_texts(const FieldKind& kind) {
  const auto number =
      rc::gen::mapcat(rc::gen::inRange<unsigned>(kind.min, kind.max + 1), [](unsigned value) {
        return rc::gen::map(rc::gen::inRange(0, 10), [value](int zeros) {
          return std::string(zeros == 9 ? 3U : 0U, '0') + std::to_string(value);
        });
      });
  const auto range = rc::gen::map(rc::gen::pair(rc::gen::inRange<unsigned>(kind.min, kind.max + 1),
                                                rc::gen::inRange<unsigned>(kind.min, kind.max + 1)),
                                  [](const std::pair<unsigned, unsigned>& ends) {
                                    const auto [low, high] = std::minmax(ends.first, ends.second);
                                    return std::to_string(low) + '-' + std::to_string(high);
                                  });
  const auto list =
      rc::gen::map(rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
                       rc::gen::weightedOneOf<std::string>({{3, number}, {1, range}}))),
                   [](const std::vector<std::string>& elements) {
                     std::string text;
                     for (const std::string& element : elements) {
                       text += (text.empty() ? "" : ",") + element;
                       if (text.size() > 40) break;
                     }
                     return text;
                   });
  return rc::gen::weightedOneOf<std::string>({{2, rc::gen::just(std::string{"*"})}, {3, list}});
}

inline rc::Gen<std::string> cron_texts() {
  return rc::gen::map(rc::gen::tuple(field_texts(minute_field),
                                     field_texts(hour_field),
                                     field_texts(day_field),
                                     field_texts(month_field),
                                     field_texts(weekday_field)),
                      [](const auto& fields) {
                        return std::get<0>(fields) + ' ' + std::get<1>(fields) + '\t' +
                               std::get<2>(fields) + "  " + std::get<3>(fields) + ' ' +
                               std::get<4>(fields);
                      });
}

}  // namespace dutiful
