// Commands that outlived their daemon: found and ended before anything is started in their place.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <dutiful/time.h>

namespace dutiful {

// The daemons that worked on a state and did not end as they should have. Each is known by a random
// name, which all its commands carry in their environment; the names are kept in a file beside the
// state. No other daemon's commands can be mistaken for theirs, and what the commands of a daemon
// that ended well left behind on purpose is left alone.
//
// To be used only by whoever owns the state.
class Instances {
 public:
  explicit Instances(const std::string& state) : path_(state + "-commands") {}

  // Enters a name, and returns those that are there already. Throws where the file cannot be read,
  // and leaves it as it is then, or where it cannot be written.
  std::vector<std::string> enter(const std::string& instance);
  // Only this one is left: the processes of the others are gone.
  void keep_only(const std::string& instance);
  // Nothing is left.
  void clear();

 private:
  std::string path_;
};

// A name that nobody else has.
[[nodiscard]] std::string new_instance();

struct Sweep {
  std::size_t ended = 0;         // processes that were killed
  std::vector<int> remaining{};  // processes that do not die
};

// Kills every process that carries one of these names, and waits until they are gone, so long at
// most. Not reached are processes that have cleared their environment, or whose environment may not
// be read. Throws where the host does not show its processes.
[[nodiscard]] Sweep end_leftovers(const std::vector<std::string>& instances, Duration wait_max);

}  // namespace dutiful
