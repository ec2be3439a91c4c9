#include <dutiful/errors.h>

#include "text/quote.h"

namespace dutiful {

InvalidRegistrationError::InvalidRegistrationError(std::string field,
                                                   std::string value,
                                                   std::string reason)
    : Error("Invalid registration: " + field + " " + quote(value) + " " + reason),
      field_(std::move(field)),
      value_(std::move(value)),
      reason_(std::move(reason)) {}

ScheduleDuplicateTaskError::ScheduleDuplicateTaskError(std::string task_name)
    : Error("Task with name " + quote(task_name) + " is already scheduled"),
      task_name_(std::move(task_name)) {}

StateHeldError::StateHeldError(std::string state, std::string holder)
    : Error("The state " + quote(state) + " is in use by " + holder +
            "; stop that scheduler first, or use another state"),
      state_(std::move(state)),
      holder_(std::move(holder)) {}

}  // namespace dutiful
