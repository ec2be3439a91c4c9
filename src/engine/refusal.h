// Why an initialize() was refused, as a trace says it.
#pragma once

#include <exception>

#include "trace/event.h"

namespace dutiful {

// The error decides the cause (RULES H12): the list is invalid or the scheduler is active; the list
// is invalid for a reason that no trace shows; or, for any other error, the environment.
[[nodiscard]] InitFailure refusal_of(const std::exception_ptr& error, CallNumber call = {});

// The error that initialize() throws instead (RULES E): the same if it is a dutiful::Error, and
// otherwise an InitializeSchedulerError with it as the cause.
[[nodiscard]] std::exception_ptr as_initialize_error(const std::exception_ptr& error) noexcept;

}  // namespace dutiful
