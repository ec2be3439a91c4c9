// Why an initialize() was refused, as a trace tells it.
#pragma once

#include <exception>

#include "trace/event.h"

namespace dutiful {

// By what it throws (RULES H12): an error that says that the list is at fault, or that the
// scheduler is active; one about what no trace shows; or anything else, which is the environment's.
[[nodiscard]] InitFailure refusal_of(const std::exception_ptr& error, CallNumber call = {});

// The error that initialize() throws instead (RULES E): the same if it is one of ours, and
// otherwise an InitializeSchedulerError that has it as its cause.
[[nodiscard]] std::exception_ptr as_initialize_error(const std::exception_ptr& error) noexcept;

}  // namespace dutiful
