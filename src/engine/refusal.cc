#include "engine/refusal.h"

#include <new>

#include <dutiful/errors.h>

namespace dutiful {
namespace {

template <typename... Errors>
bool is_one_of(const Error& error) {
  return (... || (dynamic_cast<const Errors*>(&error) != nullptr));
}

RefusalCause cause_of(const Error& error) {
  if (const auto* invalid = dynamic_cast<const InvalidRegistrationError*>(&error)) {
    const bool seen = invalid->field() == "name" || invalid->field() == "cronExpression";
    return seen ? RefusalCause::list : RefusalCause::unseen;
  }
  return is_one_of<SchedulerAlreadyActiveError,
                   ScheduleDuplicateTaskError,
                   CronExpressionInvalidError,
                   NegativeRetryDelayError>(error)
             ? RefusalCause::list
             : RefusalCause::environment;
}

}  // namespace

std::exception_ptr as_initialize_error(const std::exception_ptr& error) noexcept {
  // The first engine calls this function, so that the error is made while there is memory.
  static const std::exception_ptr out_of_memory =
      std::make_exception_ptr(InitializeSchedulerError{"memory is exhausted", nullptr});
  try {
    const auto wrapped = [&](const char* reason) {
      return std::make_exception_ptr(InitializeSchedulerError{reason, error});
    };
    try {
      if (error) std::rethrow_exception(error);
      return out_of_memory;
    } catch (const Error&) {
      return error;
    } catch (const std::bad_alloc&) {
      return out_of_memory;
    } catch (const std::exception& foreign) {
      return wrapped(foreign.what());
    } catch (...) {
      return wrapped("unknown error");
    }
  } catch (...) {
    return out_of_memory;
  }
}

InitFailure refusal_of(const std::exception_ptr& error, CallNumber call) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return {std::string{known.name()}, cause_of(known), call};
  } catch (...) {
    return {"Error", RefusalCause::environment, call};
  }
}

}  // namespace dutiful
