// A callback returns nothing, because its result would be ignored. Each of its three forms has its
// own FORBIDDEN.

#include <functional>
#include <stdexcept>

#include <dutiful/run.h>

bool work();
bool work_of(const dutiful::RunInfo& info);
bool take(dutiful::Run run);

dutiful::Callback callback() {
#if !defined(FORBIDDEN)
  return [] {
    if (!work()) throw std::runtime_error{"it failed"};  // an explicit failure is allowed
  };
#elif FORBIDDEN == 1
  return work;
#elif FORBIDDEN == 2
  return std::function<bool(const dutiful::RunInfo&)>{work_of};
#elif FORBIDDEN == 3
  return [](dutiful::Run run) { return take(std::move(run)); };
#endif
}
