// A rejected cron expression with its equivalent put in.
#pragma once

#include <string>

#include <dutiful/cron.h>

namespace dutiful {

// The expression with the equivalent in place of the faulty field; empty if there is none.
inline std::string mend(const InvalidCronExpressionError::Details& details) {
  if (details.equivalent.empty() || details.field == "expression") return details.equivalent;
  std::string mended = details.expression;
  mended.replace(details.field_offset, details.field_value.size(), details.equivalent);
  return mended;
}

}  // namespace dutiful
