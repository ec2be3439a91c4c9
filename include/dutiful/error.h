// The base class of every exception that dutiful throws.
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

// A detail of an error, under its name in the specification.
struct ErrorField {
  using Value = std::variant<std::int64_t, std::string>;
  ErrorField(std::string_view name_of, Value value_of)
      : name(name_of), value(std::move(value_of)) {}

  // Instead of the default, for the reason that EventField gives.
  ErrorField(const ErrorField& other)
      : name(other.name),
        value(std::visit([](const auto& held) { return Value{held}; }, other.value)) {}
  ErrorField(ErrorField&&) noexcept = default;
  ErrorField& operator=(const ErrorField& other) { return *this = ErrorField{other}; }
  ErrorField& operator=(ErrorField&&) noexcept = default;
  ~ErrorField() = default;

  std::string_view name;  // of static storage duration
  Value value;
};

// An error, under its name in the specification (RULES E).
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
// There is a subclass for each error that a caller may want to handle in its own way. It has the
// details as members.
class DUTIFUL_EXPORT Error : public std::runtime_error {
 public:
  // The error's name in the specification. It is the same in every release, and has static storage
  // duration.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  // The details by name, in the order of the specification, for code that does not know the
  // subclasses, such as bindings. Values are not shortened; a cause is given as its message.
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
