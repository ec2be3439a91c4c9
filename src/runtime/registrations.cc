#include "runtime/registrations.h"

#include <utility>

namespace dutiful {

std::vector<TaskConfig> take_callbacks(std::vector<Registration>& registrations,
                                       Callbacks& callbacks) {
  std::vector<TaskConfig> list;
  list.reserve(registrations.size());
  callbacks.reserve(registrations.size());
  for (Registration& registration : registrations) {
    list.push_back({.name = std::move(registration.name),
                    .cron = std::move(registration.cron),
                    .retry_delay = registration.retry_delay,
                    .registration = static_cast<std::uint32_t>(callbacks.size()),
                    .has_callback = bool{registration.callback},
                    .time_limit = registration.time_limit});
    callbacks.push_back({std::move(registration.callback), registration.time_limit});
  }
  return list;
}

}  // namespace dutiful
