#include "daemon/find_state.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

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
    // One that cannot be read, if it has a lock as ours have: whoever reads it will say why.
    std::error_code error;
    return std::filesystem::exists(owner_file_of(path), error);
  }
}

// Of the file itself and links that lead to it, the file.
void leave_one_name_of_each(std::vector<std::string>& states) {
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
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{".", error}) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".db") && is_state(name)) found.push_back(name);
  }
  std::ranges::sort(found);
  leave_one_name_of_each(found);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    throw std::runtime_error(
        "there is no state in this directory; give one by --state, or the task file that it "
        "belongs to");
  }
  std::string names;
  for (const std::string& name : found) names += (names.empty() ? "" : ", ") + quote(name);
  throw std::runtime_error("there are several states in this directory; give one by --state: " +
                           names);
}

}  // namespace dutiful
