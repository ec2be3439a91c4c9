#include "commands/search_path.h"

#include <algorithm>

namespace dutiful {

std::vector<std::string> places_of(const std::string& program, const Environment& environment) {
  if (program.find('/') != std::string::npos) return {program};
  const auto path = environment.find("PATH");
  const std::string directories =
      path == environment.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second;
  std::vector<std::string> places;
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const std::string directory = directories.substr(begin, end - begin);
    places.push_back((directory.empty() ? "." : directory) + '/' + program);
    begin = end + 1;
  }
  return places;
}

}  // namespace dutiful
