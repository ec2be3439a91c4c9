#include "theory/member.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "text/quote.h"

namespace dutiful::theory {

std::deque<Member::Initialization>::iterator Member::find_call(CallNumber number) {
  return number ? std::ranges::find(initializations, number, &Initialization::call)
                : initializations.end();
}

Member::Initialization Member::answer(const std::deque<Initialization>::iterator& place) {
  Initialization init = std::move(*place);
  initializations.erase(place);
  if (init.since + init.budget <= initialization_deadline) find_initialization_deadline();
  return init;
}

void Member::find_initialization_deadline() {
  initialization_deadline = Micros::max();
  for (const Initialization& init : initializations) {
    if (init.reported) continue;
    initialization_deadline = std::min(initialization_deadline, init.since + init.budget);
  }
}

void Member::forget_calls() {
  initializations.clear();
  initialization_deadline = Micros::max();
  stops.clear();
  judged_stops = 0;
  had_list = false;
}

std::uint64_t Member::digest(Instant now) const {
  std::uint64_t digest = initializations.size() * 31 + stops.size();
  digest = digest * 31 + (active ? 1 : 0);
  digest = digest * 31 + (had_list ? 1 : 0);
  digest = digest * 31 + (frozen.until() > now ? 1 : 0);
  for (const Stop& stop : stops) digest = digest * 31 + (stop.quiescent_since ? 1 : 0);
  return digest * 31 + std::hash<std::string>{}(name);
}

std::string Member::by() const {
  return name.empty() ? std::string{} : " by member " + quote(name);
}

}  // namespace dutiful::theory
