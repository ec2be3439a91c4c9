#include "runtime/registrations.h"

#include <string>

#include "core/validate.h"

namespace dutiful {
namespace {

// Throws for the last of the list, whose callback or time limit is wrong, unless something comes
// before that in the order of the list or of the fields (RULES I3).
[[noreturn]] void refuse(std::vector<TaskConfig> list, const CallbackOf& last) {
  TaskConfig& config = list.back();
  const Duration retry_delay = std::exchange(config.retry_delay, Duration::zero());
  validate(list);
  if (!last.callback) {
    throw InvalidRegistrationError(
        config.name, "callback", "null", "is null; register something to call");
  }
  if (retry_delay < Duration::zero()) throw NegativeRetryDelayError(retry_delay);
  const std::string limit = std::to_string(last.time_limit.count());
  throw InvalidRegistrationError(
      config.name,
      "timeLimit",
      limit,
      "is " + limit + " ms; it must not be negative, and 0 means no limit");
}

}  // namespace

std::pair<std::vector<TaskConfig>, Callbacks> split(std::vector<Registration> registrations) {
  std::vector<TaskConfig> list;
  Callbacks callbacks;
  list.reserve(registrations.size());
  callbacks.reserve(registrations.size());
  for (Registration& registration : registrations) {
    list.push_back({.name = std::move(registration.name),
                    .cron = std::move(registration.cron),
                    .retry_delay = registration.retry_delay,
                    .registration = static_cast<std::uint32_t>(callbacks.size())});
    callbacks.push_back({std::move(registration.callback), registration.time_limit});
    if (!callbacks.back().callback || registration.time_limit < Duration::zero()) {
      refuse(std::move(list), callbacks.back());
    }
  }
  return {std::move(list), std::move(callbacks)};
}

}  // namespace dutiful
