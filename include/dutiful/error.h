// The root of every exception that dutiful throws.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <dutiful/export.h>

namespace dutiful {

// A detail of an error, by the name that the specification gives it.
struct ErrorField {
  using Value = std::variant<std::int64_t, std::string>;
  ErrorField(std::string_view name_of, Value value_of)
      : name(name_of), value(std::move(value_of)) {}

  // As by default, but for want of memory: see EventField.
  ErrorField(const ErrorField& other)
      : name(other.name),
        value(std::visit([](const auto& held) { return Value{held}; }, other.value)) {}
  ErrorField(ErrorField&&) noexcept = default;
  ErrorField& operator=(const ErrorField& other) { return *this = ErrorField{other}; }
  ErrorField& operator=(ErrorField&&) noexcept = default;
  ~ErrorField() = default;

  std::string_view name;  // lives for ever
  Value value;
};

// What went wrong, under the name that the specification gives it (RULES E).
//
//   try {
//     CronExpression::parse("*/15 * * * *");
//   } catch (const Error& error) {
//     error.name();   // "InvalidCronExpressionError"
//     error.what();   // Invalid cron expression "*/15 * * * *": minute field has … use 0,15,30,45
//     error.cause();  // a FieldParseError
//     error.fields();  // expression: */15 * * * *, field: minute, reason: has …
//   }
//
// Subclasses exist where a caller would want to tell them apart, and carry the details as fields.
class DUTIFUL_EXPORT Error : public std::runtime_error {
 public:
  // The error's name in the specification, the same in every release. Lives for ever.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  // The details by name, in the order of the specification, for those who read errors without
  // knowing their classes, such as bindings. Values are whole, a cause is its message.
  [[nodiscard]] virtual std::vector<ErrorField> fields() const { return {}; }

  // The error that led to this one, or null.
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 protected:
  explicit Error(const std::string& message, std::exception_ptr cause = nullptr)
      : std::runtime_error(message), cause_(std::move(cause)) {}

 private:
  std::exception_ptr cause_;
};

}  // namespace dutiful
