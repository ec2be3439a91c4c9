#include "daemon/find_state.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "store/sqlite/holder.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/state_file.h"
#include "text/quote.h"

namespace dutiful {
namespace {

bool is_state(const std::string& path) {
  try {
    check_sqlite_state(path);
    return true;
  } catch (const Error&) {
    // It has a lock file, so it is a state that cannot be read. The caller will report why.
    std::error_code error;
    return std::filesystem::exists(owner_file_of(path), error);
  }
}

// Keeps one name of each state: the file itself, if there are links to it.
void remove_duplicates(std::vector<std::string>& states) {
  std::stable_partition(states.begin(), states.end(), [](const std::string& state) {
    std::error_code error;
    return !std::filesystem::is_symlink(state, error);
  });
  std::set<std::string> seen;
  std::erase_if(
      states, [&](const std::string& state) { return !seen.insert(resolve_state(state)).second; });
}

}  // namespace

std::string find_state(const std::optional<std::string>& where) {
  if (where) return where->ends_with(".toml") ? default_state_of(*where) : *where;
  std::vector<std::string> found;
  std::vector<std::string> unreadable;
  std::error_code error;
  const std::filesystem::directory_iterator entries{".", error};
  if (error) {
    throw std::runtime_error("cannot look for a state in this directory: " + error.message() +
                             "; give one with --state, or the task file it belongs to");
  }
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".db")) continue;
    if (is_state(name)) {
      found.push_back(name);
    } else if (faccessat(AT_FDCWD, name.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) {
      unreadable.push_back(name);
    }
  }
  // A file that cannot be read may be a state. The caller will report why it cannot be read.
  if (found.empty() && !unreadable.empty()) return std::ranges::min(unreadable);
  std::ranges::sort(found);
  remove_duplicates(found);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw std::runtime_error(
        "there is no state in this directory; give one with --state, or the task file it belongs "
        "to");
  }
  std::string names;
  for (const std::string& name : found) names += (names.empty() ? "" : ", ") + quote(name);
  throw std::runtime_error("there are several states in this directory; give one with --state: " +
                           names);
}

}  // namespace dutiful
