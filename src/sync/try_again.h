// What may be had in a moment.
#pragma once

namespace dutiful {

// Ten milliseconds.
void wait_a_moment();

// Calls it until it returns true, for at most a second, and returns what it returned last.
//
// For locks: a process that is killed while it starts a child seems to keep them. The child has its
// descriptors until it becomes its program, some milliseconds later.
template <typename Attempt>
bool try_for_a_second(Attempt attempt) {
  for (int moments = 0; moments < 100; ++moments) {
    if (attempt()) return true;
    wait_a_moment();
  }
  return attempt();
}

}  // namespace dutiful
