#include "store/sqlite/state_file.h"

#include <filesystem>

namespace dutiful {
namespace {

namespace fs = std::filesystem;

// As many as Linux follows.
constexpr int links_max = 40;

}  // namespace

std::string resolve_state(const std::string& state) {
  std::error_code error;
  if (const auto whole = fs::canonical(state, error); !error) return whole.string();
  fs::path path = state;
  for (int links = 0; links < links_max; ++links) {
    const auto target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  const auto directory = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", error);
  return error ? state : (directory / path.filename()).string();
}

std::string file_beside(const std::string& state, std::string_view ending) {
  return resolve_state(state).append(ending);
}

}  // namespace dutiful
