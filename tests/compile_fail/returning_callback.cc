// A callback returns nothing: what it returned, nobody would look at. Each of its three forms has a
// FORBIDDEN of its own.

#include <functional>
#include <stdexcept>

#include <dutiful/run.h>

bool work();
bool work_of(const dutiful::RunInfo& info);
bool take(dutiful::Run run);

dutiful::Callback callback() {
#if !defined(FORBIDDEN)
  return [] {
    if (!work()) throw std::runtime_error{"it failed"};  // someone who says so, may
  };
#elif FORBIDDEN == 1
  return work;
#elif FORBIDDEN == 2
  return std::function<bool(const dutiful::RunInfo&)>{work_of};
#elif FORBIDDEN == 3
  return [](dutiful::Run run) { return take(std::move(run)); };
#endif
}
