#include "runtime/registrations.h"

#include "core/validate.h"

namespace dutiful {

std::pair<std::vector<TaskConfig>, Callbacks> split(std::vector<Registration> registrations) {
  std::vector<TaskConfig> list;
  Callbacks callbacks;
  list.reserve(registrations.size());
  callbacks.reserve(registrations.size());
  for (Registration& registration : registrations) {
    if (!registration.callback) {
      validate(list);
      throw InvalidRegistrationError("callback", registration.name, "is missing");
    }
    list.push_back({.name = std::move(registration.name),
                    .cron = std::move(registration.cron),
                    .retry_delay = registration.retry_delay,
                    .registration = static_cast<std::uint32_t>(callbacks.size())});
    callbacks.push_back({std::move(registration.callback), registration.time_limit});
  }
  return {std::move(list), std::move(callbacks)};
}

}  // namespace dutiful
