// Retries of what is likely to succeed in a moment.
#pragma once

namespace dutiful {

// Waits ten milliseconds.
void wait_a_moment();

// Calls it until it returns true, for at most a second. Returns whether it did.
//
// For locks: a process that is killed while it starts a child seems to keep its locks, because the
// child has its descriptors until the exec, some milliseconds later.
template <typename Attempt>
bool try_for_a_second(Attempt attempt) {
  for (int moments = 0; moments < 100; ++moments) {
    if (attempt()) return true;
    wait_a_moment();
  }
  return attempt();
}

}  // namespace dutiful
