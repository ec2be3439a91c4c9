#include <dutiful/cron.h>

#include "cron/cause.h"
#include "text/quote.h"

namespace dutiful {

FieldParseError::FieldParseError(std::string field_value,
                                 std::string field_name,
                                 const std::string& reason)
    : Error(reason), field_value_(std::move(field_value)), field_name_(std::move(field_name)) {}

std::vector<ErrorField> FieldParseError::fields() const {
  return {{"fieldValue", field_value_}, {"fieldName", field_name_}};
}

InvalidCronExpressionError::InvalidCronExpressionError(Details details)
    : Error("Invalid cron expression " + quote(details.expression) + ": " + details.field +
                " field " + details.reason,
            details.field == "expression"
                ? nullptr
                : std::make_exception_ptr(
                      FieldParseError(details.field_value, details.field, details.reason))),
      details_(std::move(details)) {}

std::vector<ErrorField> InvalidCronExpressionError::fields() const {
  return {
      {"expression", details_.expression}, {"field", details_.field}, {"reason", details_.reason}};
}

CronCalculationError::CronCalculationError(std::string expression,
                                           std::string current_time,
                                           std::string cause)
    // RULES E has one message for both directions.
    : Error("Failed to calculate next occurrence: " + cause,
            std::make_exception_ptr(std::range_error(cause))),
      expression_(std::move(expression)),
      current_time_(std::move(current_time)),
      reason_(std::move(cause)) {}

std::vector<ErrorField> CronCalculationError::fields() const {
  return {{"expression", expression_}, {"currentTime", current_time_}, {"cause", reason_}};
}

CronCalculationError no_occurrence_from(std::string current_time,
                                        const CronExpression& cron,
                                        std::string_view text,
                                        Direction direction) {
  std::string expression = text.empty() ? cron.to_string() : std::string{text};
  std::string cause = no_occurrence(cron, expression, direction);
  return {std::move(expression), std::move(current_time), std::move(cause)};
}

std::string no_occurrence(const CronExpression& cron, std::string_view text, Direction direction) {
  if (cron.never_matches()) {
    return quote(text) + " never matches, because none of its months has any of its days";
  }
  return quote(text) + (direction == Direction::next ? " has no occurrence before the year 10000"
                                                     : " has no occurrence after the year 0");
}

}  // namespace dutiful
