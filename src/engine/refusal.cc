#include "engine/refusal.h"

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
