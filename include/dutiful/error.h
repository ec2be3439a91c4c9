// The root of every exception that dutiful throws.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dutiful {

// What went wrong, under the name that the specification gives it (RULES E).
//
//   try {
//     CronExpression::parse("*/15 * * * *");
//   } catch (const Error& error) {
//     error.name();   // "InvalidCronExpressionError"
//     error.what();   // Invalid cron expression "*/15 * * * *": minute field has … use 0,15,30,45
//     error.cause();  // a FieldParseError
//   }
//
// Subclasses exist where a caller would want to tell them apart, and carry the details as fields.
class Error : public std::runtime_error {
 public:
  // The error's name in the specification, the same in every release. Lives for ever.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  // The error that led to this one, or null.
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 protected:
  explicit Error(const std::string& message, std::exception_ptr cause = nullptr)
      : std::runtime_error(message), cause_(std::move(cause)) {}

 private:
  std::exception_ptr cause_;
};

}  // namespace dutiful
